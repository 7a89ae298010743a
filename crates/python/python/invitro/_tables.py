"""Parquet tables as pandas or polars has them, through Arrow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from . import _invitro
from ._optional import needed

Frame = Literal["pandas", "polars", "arrow"]
FRAMES = ("pandas", "polars", "arrow")


def checked(frame: str) -> None:
    if frame not in FRAMES:
        raise _invitro.Error(f"frame is {frame!r}, but must be one of {', '.join(FRAMES)}")


def of_arrow(table: Any, frame: Frame) -> Any:
    if frame == "pandas":
        needed("pandas", "a table of pandas")
        return table.to_pandas()
    return needed("polars", "a table of polars").from_arrow(table) if frame == "polars" else table


def read(path: Path, frame: Frame) -> Any:
    """A table that is as it was written."""
    checked(frame)
    _invitro.check_table(path)
    return of_arrow(needed("pyarrow.parquet", "reading tables").read_table(path), frame)


def lines(path: Path, frame: Frame) -> Any:
    """JSON lines; the last may still be being written."""
    checked(frame)
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    rows = [json.loads(line) for line in whole.splitlines()]
    return of_arrow(needed("pyarrow", "reading tables").Table.from_pylist(rows), frame)
