"""The tests without the hierarchical model."""
