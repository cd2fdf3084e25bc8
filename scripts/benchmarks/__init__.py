"""The rows of the benchmark, a file for each subject."""
