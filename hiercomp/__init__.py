"""hiercomp: which of two algorithms is better on the next data set, from cross-validation scores.

The public names are in ``__init__.pyi``; each is imported on first use, so ``import hiercomp`` is fast.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
