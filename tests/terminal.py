"""What a program writes to a pseudo-terminal."""

from __future__ import annotations

import os


def read_to_end(terminal: int) -> bytes:
    """Everything until the program closes its end; the descriptor is closed."""
    written = b""
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # Linux says so when the other end is closed
            break
        if not piece:
            break
        written += piece
    os.close(terminal)
    return written
