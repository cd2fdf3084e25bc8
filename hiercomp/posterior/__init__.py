"""What is known after a fit."""
