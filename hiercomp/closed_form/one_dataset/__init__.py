"""Tests for the scores of one data set."""
