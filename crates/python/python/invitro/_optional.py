"""Packages that some of it needs and most of it does not."""

from __future__ import annotations

import importlib
from typing import Any

from ._invitro import Error


def needed(package: str, what: str) -> Any:
    """A package, or a sentence about who needs it."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as missing:
        top = package.split(".")[0]
        if missing.name is None or missing.name.split(".")[0] != top:
            raise
        raise Error(f"{what} needs the package {top}: `pip install {top}`") from missing
