"""The training rows for PyTorch's `DataLoader`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import IterableDataset, get_worker_info

from ._collate import IGNORED
from ._invitro import Error


class HasBatches(Protocol):
    """What the rows are read from: an `Experiment`."""

    @property
    def id(self) -> str: ...
    @property
    def steps(self) -> int: ...
    @property
    def vocab(self) -> int: ...
    def batch(self, step: int) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.uint8]]: ...


class TrainingRows(IterableDataset[dict[str, Any]]):
    """The batches of an experiment's training, one a step, in its order. See `Experiment.dataset`."""

    def __init__(self, experiment: HasBatches, after: int, packed: bool) -> None:
        super().__init__()
        self.experiment = experiment
        self.packed = packed
        # Made before any worker is: they only read it.
        experiment.vocab
        self._after = self._at = self._checked(after)
        seen: Any = torch.zeros(1, dtype=torch.bool)
        self._by_workers = seen.share_memory_()

    def _checked(self, step: int) -> int:
        if not 0 <= step <= self.experiment.steps:
            raise Error(f"after step {step}: training has steps 1 to {self.experiment.steps}")
        return step

    def __len__(self) -> int:
        return self.experiment.steps - self._after

    def __iter__(self) -> Iterator[dict[str, Any]]:
        worker = get_worker_info()
        number, workers = (0, 1) if worker is None else (worker.id, worker.num_workers)
        if worker is not None:
            self._by_workers[0] = True
        # A loader takes from its workers in turn, so that steps come in their order.
        for step in range(self._after + 1 + number, self.experiment.steps + 1, workers):
            batch = self._packed(step) if self.packed else self._padded(step)
            self._at = step
            yield batch

    def _packed(self, step: int) -> dict[str, Any]:
        ids, offsets, tasks = self.experiment.batch(step)
        return {
            "step": step,
            "input_ids": torch.from_numpy(ids.astype(np.int64)),
            "offsets": torch.from_numpy(offsets),
            "tasks": torch.from_numpy(tasks),
        }

    def _padded(self, step: int) -> dict[str, Any]:
        ids, offsets, tasks = self.experiment.batch(step)
        lengths = np.diff(offsets)
        there = np.arange(lengths.max()) < lengths[:, None]
        input_ids = np.zeros(there.shape, dtype=np.int64)
        input_ids[there] = ids
        # The first token of a row is given.
        labels = np.where(there, input_ids, IGNORED)
        labels[:, 0] = IGNORED
        return {
            "step": step,
            "input_ids": torch.from_numpy(input_ids),
            "attention_mask": torch.from_numpy(there.astype(np.int64)),
            "labels": torch.from_numpy(labels),
            "tasks": torch.from_numpy(tasks),
        }

    def state_dict(self, step: int | None = None) -> dict[str, Any]:
        """Where the training is: after the last batch that was taken, or after a step that is named.

        Workers make batches ahead of the one who takes them: with workers, name the `step` of the last batch that you used.
        """
        if step is None and get_worker_info() is None and bool(self._by_workers[0]):
            raise Error('the rows were made by workers, ahead of their reader: state_dict(batch["step"]) says where it is')
        return {"experiment": self.experiment.id, "step": self._at if step is None else self._checked(int(step))}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on after that step, with any number of workers."""
        if state["experiment"] != self.experiment.id:
            raise Error(f"the state is of the experiment {state['experiment']}, not of {self.experiment.id}")
        self._after = self._at = self._checked(int(state["step"]))
