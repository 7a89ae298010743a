"""Objects as a notebook shows them: small tables that fit a cell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

MOST = 12
"""Rows that are shown of a longer list."""
LONGEST = 120
"""Letters that are shown of a longer text."""


def text(value: object) -> str:
    """A value, shortened and safe in a page."""
    shown = f"{value:.4g}" if isinstance(value, float) else str(value)
    return escape(shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…")


def table(title: str, rows: Sequence[Iterable[object]], head: Sequence[str] = (), total: int | None = None) -> str:
    """A table with a title; `total` is how many rows there are where not all are given."""
    lines = [f"<th>{'</th><th>'.join(escape(name) for name in head)}</th>"] if head else []
    lines += [f"<td>{'</td><td>'.join(text(cell) for cell in row)}</td>" for row in rows]
    body = "".join(f"<tr style='text-align:left'>{line}</tr>" for line in lines)
    more = f"<p>{len(rows)} of {total:,} rows</p>" if total is not None and total > len(rows) else ""
    style = "overflow-x:auto;max-height:24em;overflow-y:auto"
    return f"<div style='{style}'><b>{text(title)}</b><table>{body}</table>{more}</div>"
