"""Running paired cross-validation with scikit-learn, into a table of scores."""

from hiercomp.crossval.run import cross_validate_all

__all__ = ["cross_validate_all"]
