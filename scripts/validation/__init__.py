"""The checks of `scripts/validate.py`."""
