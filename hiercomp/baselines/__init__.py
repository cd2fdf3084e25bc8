"""Closed-form and classical tests: fast baselines beside the hierarchical model, one file a family."""
