"""The declaration of a fault."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from lab.soak.rows import STORES, StoreName
from lab.soak.servers import Servers
from lab.soak.write_load import WriteLoad

Inject = Callable[[Servers, WriteLoad], Awaitable[None]]
"""Causes a fault while callers write. It returns when everything is right again."""


class Fault(NamedTuple):
    name: str
    inject: Inject
    stores: tuple[StoreName, ...]
    visitors: int
    """Callers that sign in by email. None of them if the fault keeps them from it."""


FAULTS: list[Fault] = []


def fault(name: str, *stores: StoreName, visitors: int = 2) -> Callable[[Inject], Inject]:
    """Add a function to `FAULTS`, for these stores or for all."""

    def add(inject: Inject) -> Inject:
        FAULTS.append(Fault(name, inject, stores or STORES, visitors))
        return inject

    return add
