"""Reads the event files of runs with TensorBoard's own reader and compares them with the runs' tables."""

import sys
from pathlib import Path

import pandas
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

for folder in map(Path, sys.argv[1:]):
    events = EventAccumulator(str(folder / "tensorboard"), size_guidance={"scalars": 0})
    events.Reload()
    tags = set(events.Tags()["scalars"])
    metrics = pandas.read_parquet(folder / "metrics.parquet")
    for (task, condition, metric), rows in metrics.groupby(["task", "condition", "metric"]):
        tag = f"{task}/{condition}.{metric}"
        read = [(event.step, event.value) for event in events.Scalars(tag)]
        expected = list(zip(rows.step, rows.value.astype("float32")))
        assert read == expected, (folder, tag, read, expected)
        tags.remove(tag)
    training = pandas.read_parquet(folder / "training.parquet")
    for name in ["loss", "lr", "grad_norm"]:
        read = [(event.step, event.value) for event in events.Scalars(f"training/{name}")]
        assert read == list(zip(training.step, training[name].astype("float32"))), (folder, name)
        tags.remove(f"training/{name}")
    assert not tags, tags
