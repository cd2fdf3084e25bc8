"""What a table of scores holds, and everything that is wrong with it."""
