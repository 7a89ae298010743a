"""Batches of `Experiment.dataset` as models of `transformers` take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._invitro import Error
from ._optional import needed

IGNORED = -100
"""The label of what is not predicted, as `torch.nn.CrossEntropyLoss` and `transformers` have it."""


def collate(batches: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The `data_collator` of a `transformers.Trainer` on `Experiment.dataset()`: the arguments of a model's forward.

    An item of the dataset is the whole batch of a step, so `per_device_train_batch_size` must be 1. Packed rows become one
    row whose `position_ids` begin anew at each; by these, and without a cache, `transformers` from 4.53 on keeps them apart.
    """
    if len(batches) != 1:
        raise Error(f"{len(batches)} batches at once: one is a whole training step, so per_device_train_batch_size must be 1")
    (batch,) = batches
    if "offsets" not in batch:
        return {key: batch[key] for key in ("input_ids", "attention_mask", "labels")}
    import torch

    if not hasattr(needed("transformers.masking_utils", "a packed batch"), "find_packed_sequence_indices"):
        raise Error("packed rows would attend to one another: they need transformers 4.53 or later, or packed=False")
    ids, offsets = batch["input_ids"], batch["offsets"]
    positions = torch.arange(len(ids)) - offsets[:-1].repeat_interleave(offsets.diff())
    # The first token of a row is given.
    labels = ids.masked_fill(positions == 0, IGNORED)
    return {"input_ids": ids[None], "position_ids": positions[None], "labels": labels[None], "use_cache": False}
