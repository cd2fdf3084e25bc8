"""Tests for three and more algorithms over several data sets."""
