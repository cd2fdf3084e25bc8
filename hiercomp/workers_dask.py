"""Joblib on a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hiercomp.errors import ArgumentError

if TYPE_CHECKING:
    from dask.distributed import Client

DASK_SECONDS = 30  # until a scheduler that does not answer is given up


@contextmanager
def dask_backend(dask: str | Client | None) -> Iterator[None]:
    """Joblib on a Dask cluster, where one is given."""
    if dask is None:
        yield
        return
    try:
        from dask.distributed import Client
    except ImportError:
        raise ArgumentError("Dask is not installed: pip install 'hiercomp[dask]'.") from None
    from joblib import parallel_config

    if not isinstance(dask, str | Client):
        raise ArgumentError(f"dask must be a scheduler's address such as 'tcp://host:8786' or a Client, got {dask!r}.")
    try:
        client = Client(dask, timeout=DASK_SECONDS) if isinstance(dask, str) else dask  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise ArgumentError(f"No Dask scheduler answers at {dask!r}: {error}.") from error
    try:
        with parallel_config(backend="dask", client=client):
            yield
    finally:
        if client is not dask:
            client.close()  # type: ignore[no-untyped-call]


def active_client() -> Client | None:
    """The client of the Dask cluster that joblib works on, where it does."""
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    client: Client | None = getattr(backend, "client", None)
    return client
