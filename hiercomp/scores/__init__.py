"""From a table of scores to paired differences."""
