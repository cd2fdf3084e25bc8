"""The warnings of estimators, counted for each cell."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hiercomp.wording import LONGEST_SHOWN, shown

Raised = dict[str, tuple[int, str]]
HIDDEN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)  # as Python hides by default

_lock = threading.Lock()
_active: dict[int, Raised] = {}  # by thread
_catching = warnings.catch_warnings()


@contextmanager
def caught_warnings(raised: Raised) -> Iterator[None]:
    """Count the warnings of this thread instead of showing them, whatever the filters are.

    Warnings of other threads count for the cell if it is the only one, because it may have started them; where several
    cells run in threads they are dropped.

    Python's own `warnings.catch_warnings` can't tell threads apart, and here several may run cells: the first one changes
    the filters, and the last one restores them.

    Parameters
    ----------
    raised : dict from str to (int, str)
        By the name of the category: how many there were, and the text of the first.
    """
    global _catching
    thread = threading.get_ident()
    with _lock:
        if not _active:
            _catching = warnings.catch_warnings()
            _catching.__enter__()
            warnings.simplefilter("always")
            for category in HIDDEN:
                warnings.simplefilter("ignore", category)
            warnings.showwarning = _count
        outer = _active.get(thread)
        _active[thread] = raised
    try:
        yield
    finally:
        with _lock:
            if outer is None:
                del _active[thread]
            else:
                _active[thread] = outer
            if not _active:
                _catching.__exit__(None, None, None)


def _count(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    raised = _active.get(threading.get_ident())
    if raised is None and len(_active) == 1:  # of a thread that the only cell has started
        raised = next(iter(_active.values()), None)
    if raised is not None:
        number, first = raised.get(category.__name__, (0, ""))
        raised[category.__name__] = (number + 1, first or _text(message))


def _text(message: Warning | str) -> str:
    """The beginning of a warning, in one line."""
    text = shown(" ".join(str(message).split()))
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."
