"""Work in other processes, however they are started, after this one has used its threads."""

import multiprocessing
import pickle
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import invitro
import pytest
from conftest import TINY

# A process that takes longer hangs.
SECONDS = 60


def work(experiment: invitro.Experiment, folder: Path) -> tuple[object, ...]:
    """All that uses threads: languages, a tokenizer, rows, training, evaluation."""
    other = invitro.Experiment(config=TINY, seeds__data=7)
    run = other.run(folder, device="cpu", quiet=True)
    rows = experiment.sample(3000, "B")
    return rows, other.tokenizer_json, experiment.batch(1).ids.tolist(), (run.path / "metrics.jsonl").read_bytes()


def send(to: Connection, experiment: invitro.Experiment, folder: Path, forks: int = 0) -> None:
    if forks:
        to.send(in_process("fork", experiment, folder, forks - 1))
    else:
        to.send(work(experiment, folder))


def in_process(method: str, *given: Any) -> object:
    context: Any = multiprocessing.get_context(method)
    here, there = context.Pipe()
    process = context.Process(target=send, args=(there, *given))
    process.start()
    try:
        assert here.poll(SECONDS), f"a process that was started by {method} hangs"
        return here.recv()
    finally:
        process.kill()
        process.join()


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS's own libraries do not survive a fork")
def test_forked_processes_work(tiny: invitro.Experiment, tmp_path: Path) -> None:
    expected = work(tiny, tmp_path / "here")
    assert in_process("fork", tiny, tmp_path / "fork") == expected
    # A fork of a fork.
    assert in_process("fork", tiny, tmp_path / "twice", 1) == expected


@pytest.mark.parametrize("method", ["forkserver", "spawn"])
def test_new_processes_work(method: str, tiny: invitro.Experiment, tmp_path: Path) -> None:
    assert in_process(method, tiny, tmp_path / "there") == work(tiny, tmp_path / "here")


def test_errors_are_pickled() -> None:
    with pytest.raises(invitro.Error) as raised:
        invitro.Experiment(language__distance=2)
    assert (invitro.Error.__module__, invitro.Error.__qualname__) == ("invitro", "Error")
    again = pickle.loads(pickle.dumps(raised.value))
    assert type(again) is invitro.Error and str(again) == str(raised.value)
