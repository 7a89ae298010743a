"""Runs and studies out of their folders."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _invitro, _tables
from ._experiment import Experiment
from ._optional import needed
from ._tables import Frame


class Run:
    """A run's folder, done or not. Tables are of pandas, or with `frame="polars"` of polars, or of Arrow."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not (self.path / "config.toml").is_file():
            raise _invitro.Error(f"there is no run in `{self.path}`: it has no config.toml")

    def __repr__(self) -> str:
        status = self.status
        return f"Run({str(self.path)!r}, {status.get('state', 'not begun')}, step {status.get('step', 0)})"

    @cached_property
    def experiment(self) -> Experiment:
        """What it is a run of."""
        return Experiment.open(self.path)

    @property
    def status(self) -> dict[str, Any]:
        """`status.json`: its state, its step, its device."""
        found = _invitro.status(self.path)
        status: dict[str, Any] = json.loads(found) if found else {}
        return status

    @property
    def done(self) -> bool:
        """Whether it is finished."""
        return bool(self.status.get("state") == "done")

    @property
    def summary(self) -> dict[str, Any]:
        """Its row of `runs.parquet`, once it is done."""
        self._have("summary.json", "a run that is not done has no summary")
        summary: dict[str, Any] = json.loads((self.path / "summary.json").read_text(encoding="utf-8"))
        return summary

    def metrics(self, frame: Frame = "pandas") -> Any:
        """Every evaluation so far: a row per step, condition and measure."""
        return self._log("metrics", frame)

    def training(self, frame: Frame = "pandas") -> Any:
        """The training so far: a row per step."""
        return self._log("training", frame)

    def words(self, frame: Frame = "pandas") -> Any:
        """The masked words, once it is done."""
        self._have("words.parquet", "a run that is not done has no table of words")
        return _tables.read(self.path / "words.parquet", frame)

    def samples(self, frame: Frame = "pandas") -> Any:
        """Decoded sentences with what was found of them."""
        return self._lines("samples.jsonl", frame)

    def _log(self, name: str, frame: Frame) -> Any:
        table = self.path / f"{name}.parquet"
        return _tables.read(table, frame) if table.is_file() else self._lines(f"{name}.jsonl", frame)

    def _lines(self, name: str, frame: Frame) -> Any:
        self._have(name, "it has not begun")
        return _tables.lines(self.path / name, frame)

    def _have(self, name: str, why: str) -> None:
        if not (self.path / name).is_file():
            raise _invitro.Error(f"there is no {name} in `{self.path}`: {why}")
        _invitro.check_file(self.path, name)

    def export(
        self, out: str | os.PathLike[str], step: int | None = None, *, license: str | None = None
    ) -> Path:
        """Writes the model of a step, or of the last, as a new folder that `transformers` loads.

        Its `README.md` is a model card: the experiment, the measures, what to cite, and the licence that you name.
        """
        _invitro.export(self.path, Path(out), step, license)
        return Path(out)

    def model(self, step: int | None = None) -> Any:
        """The model of a step, or of the last, as an object of `transformers`, in evaluation mode."""
        auto = needed("transformers", "the model as an object").AutoModelForCausalLM
        with tempfile.TemporaryDirectory() as folder:
            return auto.from_pretrained(self.export(Path(folder) / "model", step)).eval()

    def hidden_states(
        self, sentences: Iterable[str], language: str, *, step: int | None = None
    ) -> list[NDArray[np.float32]]:
        """Of every sentence an array, layers by tokens by width.

        Layer 0 is the embedding, the last has the final norm behind it. The tokens are those of
        `experiment.encode(f"<T0:{language}> {sentence}", language)`. Needs `torch` and `transformers`.
        """
        if isinstance(sentences, str):
            raise _invitro.Error("hidden_states takes a list of sentences: put the one into a list")
        torch = needed("torch", "hidden states")
        opening = "<T0>" if self.experiment.settings["mixture.tags"] == "task" else f"<T0:{language}>"
        rows = [self.experiment.encode(f"{opening} {sentence}", language) for sentence in sentences]
        model = self.model(step)
        states = []
        with torch.inference_mode():
            for row in rows:
                out = model(torch.tensor([row]), output_hidden_states=True)
                states.append(torch.cat(out.hidden_states).float().numpy())
        return states


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
