"""How many data sets and runs a comparison needs."""
