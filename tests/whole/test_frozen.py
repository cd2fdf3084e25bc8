"""Results, settings and statistics can't be changed once they are made."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil

import hiercomp

# What a run or a reader goes on filling
CHANGE = {"Progress", "Termination", "CrossValidation", "_Column", "_Order"}


def test_every_dataclass_is_frozen_but_a_few():
    found = {}
    for module in pkgutil.walk_packages(hiercomp.__path__, "hiercomp."):
        if not module.name.endswith("__main__"):
            found |= dict(inspect.getmembers(importlib.import_module(module.name), dataclasses.is_dataclass))
    own = {name: one for name, one in found.items() if one.__module__.startswith("hiercomp.")}
    assert len(own) > 50
    assert {name for name, one in own.items() if not one.__dataclass_params__.frozen} == CHANGE
