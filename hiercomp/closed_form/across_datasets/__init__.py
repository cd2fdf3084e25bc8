"""Tests for two algorithms over several data sets."""
