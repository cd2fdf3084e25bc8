"""Deterministic integration of the posterior on a grid."""
