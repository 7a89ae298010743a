"""A study out of its folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from . import _html, _invitro, _tables
from ._experiment import Experiment, Run
from ._tables import Frame

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from ._tables import Table


class Study:
    """A study's folder, or what `invitro study collect` made of one.

    Tables are of pandas, or with `frame="polars"` of polars, or of Arrow. With `underscores` a column has two underscores
    where it has a dot, as Altair and attributes need it: `language__distance`.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not any((self.path / name).is_file() for name in ("study.toml", "runs.parquet")):
            raise _invitro.Error(f"there is no study in `{self.path}`: it has neither study.toml nor runs.parquet")

    def __repr__(self) -> str:
        return f"Study({str(self.path)!r})"

    def _repr_html_(self) -> str:
        files = [name for name in ("runs", "metrics", "words") if (self.path / f"{name}.parquet").is_file()]
        rows = [("folder", self.path), ("tables", ", ".join(files) or "none: `invitro study collect` writes them")]
        return _html.table("Study", rows)

    @overload
    def runs(self, frame: Literal["pandas"] = ..., *, underscores: bool = ...) -> pandas.DataFrame: ...
    @overload
    def runs(self, frame: Literal["polars"], *, underscores: bool = ...) -> polars.DataFrame: ...
    @overload
    def runs(self, frame: Literal["arrow"], *, underscores: bool = ...) -> pyarrow.Table: ...
    @overload
    def runs(self, frame: Frame, *, underscores: bool = ...) -> Table: ...
    def runs(self, frame: Frame = "pandas", *, underscores: bool = False) -> Table:
        """A row per run: its settings, its state, and of every curve the peak, the end and when it emerged."""
        return _tables.of_arrow(_tables.with_kinds(self._table("runs")), frame, underscores)

    @overload
    def metrics(
        self, frame: Literal["pandas"] = ..., *, settings: bool | Sequence[str] = ..., underscores: bool = ...
    ) -> pandas.DataFrame: ...
    @overload
    def metrics(
        self, frame: Literal["polars"], *, settings: bool | Sequence[str] = ..., underscores: bool = ...
    ) -> polars.DataFrame: ...
    @overload
    def metrics(
        self, frame: Literal["arrow"], *, settings: bool | Sequence[str] = ..., underscores: bool = ...
    ) -> pyarrow.Table: ...
    @overload
    def metrics(self, frame: Frame, *, settings: bool | Sequence[str] = ..., underscores: bool = ...) -> Table: ...
    def metrics(
        self, frame: Frame = "pandas", *, settings: bool | Sequence[str] = False, underscores: bool = False
    ) -> Table:
        """Every evaluation of every run; with `settings` also each run's settings: those named, or all that differ."""
        return _tables.of_arrow(self._with_settings("metrics", settings), frame, underscores)

    @overload
    def words(
        self, frame: Literal["pandas"] = ..., *, settings: bool | Sequence[str] = ..., underscores: bool = ...
    ) -> pandas.DataFrame: ...
    @overload
    def words(
        self, frame: Literal["polars"], *, settings: bool | Sequence[str] = ..., underscores: bool = ...
    ) -> polars.DataFrame: ...
    @overload
    def words(
        self, frame: Literal["arrow"], *, settings: bool | Sequence[str] = ..., underscores: bool = ...
    ) -> pyarrow.Table: ...
    @overload
    def words(self, frame: Frame, *, settings: bool | Sequence[str] = ..., underscores: bool = ...) -> Table: ...
    def words(
        self, frame: Frame = "pandas", *, settings: bool | Sequence[str] = False, underscores: bool = False
    ) -> Table:
        """The masked words of every run; with `settings` also each run's settings: those named, or all that differ."""
        return _tables.of_arrow(self._with_settings("words", settings), frame, underscores)

    def run(self, id: str) -> Run:
        """One of its runs, by its identity, where its folder is there."""
        return Run(self.path / "runs" / id)

    def _with_settings(self, name: str, settings: bool | Sequence[str]) -> Any:
        table = self._table(name)
        if settings is False:
            return table
        if isinstance(settings, str):
            raise _invitro.Error("`settings` is a list of settings, or True for all that differ: put the one into a list")
        runs = _tables.with_kinds(self._table("runs"))
        names = self._differing(runs) if settings is True else [key.replace("__", ".") for key in settings]
        unknown = [key for key in names if key not in runs.column_names or key in table.column_names]
        if unknown:
            raise _invitro.Error(f"there is no setting {unknown[0]} in runs.parquet of `{self.path}`")
        place = {run: at for at, run in enumerate(runs["run"].to_pylist())}
        rows = table["run"].to_pylist()
        missing = next((run for run in rows if run not in place), None)
        if missing is not None:
            raise _invitro.Error(f"the run {missing} is in {name}.parquet but not in runs.parquet of `{self.path}`")
        joined = runs.select(names).take([place[run] for run in rows])
        for key in names:
            table = table.append_column(key, joined[key])
        return table

    @staticmethod
    def _differing(runs: Any) -> list[str]:
        sections = {key.split(".")[0] for key in Experiment().settings if "." in key} | {"languages"}
        keys = [name for name in runs.column_names if "." in name and name.split(".")[0] in sections]
        return [key for key in keys if len({str(value) for value in runs[key].to_pylist()}) > 1]

    def _table(self, name: str) -> Any:
        path = self.path / f"{name}.parquet"
        if not path.is_file():
            raise _invitro.Error(f"there is no {path.name} in `{self.path}`: `invitro study collect {self.path}` writes it")
        return _tables.read(path)
