"""Files of scores: read, written and checked."""
