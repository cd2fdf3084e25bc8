"""The hierarchical model: its priors, its data in one unit, and the Stan programs."""
