"""`examples/python/track.py`: what TensorBoard's own reader finds in the event files."""

import subprocess
import sys
from pathlib import Path

import invitro
from conftest import ROOT
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def test_tensorboard_reads_every_measure(run: invitro.Run, tmp_path: Path) -> None:
    script = ROOT / "examples/python/track.py"
    subprocess.run([sys.executable, script, run.path, "tensorboard", tmp_path], check=True)
    metrics = run.metrics()
    events = EventAccumulator(str(tmp_path / metrics.run.iloc[0]), size_guidance={"scalars": 0})
    events.Reload()
    tags = set(events.Tags()["scalars"])
    for (task, condition, metric), rows in metrics.groupby(["task", "condition", "metric"]):
        tag = f"{task}/{condition}.{metric}"
        read = [(event.step, event.value) for event in events.Scalars(tag)]
        assert read == list(zip(rows.step, rows.value.astype("float32"))), tag
        tags.remove(tag)
    assert not tags
