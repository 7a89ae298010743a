"""A study out of its folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from . import _invitro, _tables
from ._experiment import Run
from ._tables import Frame


class Study:
    """A study's folder, or what `invitro study collect` made of one."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not any((self.path / name).is_file() for name in ("study.toml", "runs.parquet")):
            raise _invitro.Error(f"there is no study in `{self.path}`: it has neither study.toml nor runs.parquet")

    def __repr__(self) -> str:
        return f"Study({str(self.path)!r})"

    def runs(self, frame: Frame = "pandas") -> Any:
        """A row per run: its settings, its state, and of every curve the peak, the end and when it emerged."""
        return self._table("runs", frame)

    def metrics(self, frame: Frame = "pandas") -> Any:
        """Every evaluation of every run."""
        return self._table("metrics", frame)

    def words(self, frame: Frame = "pandas") -> Any:
        """The masked words of every run."""
        return self._table("words", frame)

    def run(self, id: str) -> Run:
        """One of its runs, by its identity, where its folder is there."""
        return Run(self.path / "runs" / id)

    def _table(self, name: str, frame: Frame) -> Any:
        path = self.path / f"{name}.parquet"
        if not path.is_file():
            raise _invitro.Error(f"there is no {path.name} in `{self.path}`: `invitro study collect {self.path}` writes it")
        return _tables.read(path, frame)
