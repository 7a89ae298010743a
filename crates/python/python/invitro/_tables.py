"""Parquet tables as pandas or polars has them, through Arrow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from . import _invitro
from ._optional import needed

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    Table: TypeAlias = pandas.DataFrame | polars.DataFrame | pyarrow.Table

Frame = Literal["pandas", "polars", "arrow"]
FRAMES = ("pandas", "polars", "arrow")


def checked(frame: str) -> None:
    if frame not in FRAMES:
        raise _invitro.Error(f"frame is {frame!r}, but must be one of {', '.join(FRAMES)}")


@overload
def of_arrow(table: Any, frame: Literal["pandas"], underscores: bool = ...) -> pandas.DataFrame: ...
@overload
def of_arrow(table: Any, frame: Literal["polars"], underscores: bool = ...) -> polars.DataFrame: ...
@overload
def of_arrow(table: Any, frame: Literal["arrow"], underscores: bool = ...) -> pyarrow.Table: ...
@overload
def of_arrow(table: Any, frame: Frame, underscores: bool = ...) -> Table: ...
def of_arrow(table: Any, frame: Frame, underscores: bool = False) -> Table:
    """The table in the frame that is asked for, its columns with two underscores for a dot where so asked."""
    checked(frame)
    if underscores:
        table = table.rename_columns([name.replace(".", "__") for name in table.column_names])
    if frame == "pandas":
        needed("pandas", "a table of pandas")
        return table.to_pandas()
    return needed("polars", "a table of polars").from_arrow(table) if frame == "polars" else table


def read(path: Path) -> Any:
    """A table that is as it was written."""
    _invitro.check_table(path)
    return needed("pyarrow.parquet", "reading tables").read_table(path)


def lines(path: Path) -> Any:
    """JSON lines; the last may still be being written."""
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    rows = [json.loads(line) for line in whole.splitlines()]
    return needed("pyarrow", "reading tables").Table.from_pylist(rows)


def with_kinds(table: Any) -> Any:
    """Settings that older tables have as text, in their own kind: true and false, lists."""
    arrow = needed("pyarrow", "reading tables")
    for at, field in enumerate(table.schema):
        if "." not in field.name or not arrow.types.is_string(field.type):
            continue
        values = table.column(at).to_pylist()
        if all(value is None or value in ("true", "false") or value.startswith("[") for value in values):
            try:
                array = arrow.array([None if value is None else json.loads(value) for value in values])
            except (ValueError, arrow.ArrowException):
                continue
            if not arrow.types.is_null(array.type):
                table = table.set_column(at, field.name, array)
    return table
