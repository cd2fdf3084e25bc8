"""The papers' tables and figures, each as an exhibit that `scripts/reproduce.py` runs."""
