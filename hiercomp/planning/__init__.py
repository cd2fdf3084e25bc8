"""How many data sets and runs a study needs."""
