"""What each summary says."""
