"""Every pair of many algorithms."""
