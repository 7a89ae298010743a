"""Training from Python: the rows it reads, what it tells, how it stops."""

import os
import signal
import threading
from pathlib import Path

import invitro
import numpy as np
import pytest

from conftest import TINY


def test_training_reads_the_batches(run: invitro.Run) -> None:
    """The loss of a step is that of its batch under the weights of the step before, which only these rows can give."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    training = run.training().set_index("step")
    assert [len(run.experiment.batch(step).ids) - 8 for step in training.index] == list(training.tokens)
    for step in (15, 45, 75):
        model = run.model(step)
        batch = next(iter(run.experiment.dataset(after=step)))
        assert batch["step"] == step + 1
        with torch.inference_mode():
            loss = model(batch["input_ids"], labels=batch["labels"]).loss.item()
        assert loss == pytest.approx(training.loss[step + 1], abs=1e-5)


def test_runs_have_tables(run: invitro.Run) -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    assert run.done and run.status["step"] == 90 and run.summary["steps"] == 90
    for table in (run.metrics, run.training, run.words, run.samples):
        assert isinstance(table(), pandas.DataFrame)
        assert isinstance(table(frame="polars"), polars.DataFrame)
        assert len(table()) == len(table("polars")) == table("arrow").num_rows > 0
    with pytest.raises(invitro.Error, match="must be one of pandas, polars, arrow"):
        run.metrics(frame="cudf")  # type: ignore[call-overload]
    assert invitro.Run(run.path).experiment == run.experiment


def test_damage_is_told(run: invitro.Run, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    for name in ("config.toml", "status.json", "metrics.parquet", "samples.jsonl"):
        (tmp_path / name).write_bytes((run.path / name).read_bytes())
    copy = invitro.Run(tmp_path)
    assert len(copy.metrics()) == len(run.metrics())
    table = bytearray((tmp_path / "metrics.parquet").read_bytes())
    table[len(table) // 2] ^= 1
    (tmp_path / "metrics.parquet").write_bytes(table)
    with pytest.raises(invitro.Error, match="its checksum is another"):
        copy.metrics()
    (tmp_path / "samples.jsonl").write_text("{}\n")
    with pytest.raises(invitro.Error, match="samples.jsonl"):
        copy.samples()


def test_an_interrupted_run_goes_on(run: invitro.Run, tmp_path: Path) -> None:
    happened: list[invitro.Progress] = []
    interrupt = threading.Event()

    def interrupting() -> None:
        interrupt.wait()
        os.kill(os.getpid(), signal.SIGINT)

    other = threading.Thread(target=interrupting)
    other.start()

    def watch(progress: invitro.Progress) -> None:
        happened.append(progress)
        if progress.step >= 20:
            interrupt.set()

    out = tmp_path / "run"
    experiment = invitro.Experiment(config=TINY, checkpoint__keep="all", train__steps=2000, eval__every=20)
    with pytest.raises(KeyboardInterrupt):
        experiment.run(out, device="cpu", progress=watch)
    other.join()
    stopped = invitro.Run(out)
    assert stopped.status["state"] == "stopped" and 20 <= stopped.status["step"] < 2000
    assert {"note", "step", "evaluation"} == {one.kind for one in happened}
    assert any("grammatical A" in str(one) for one in happened)
    assert len(stopped.metrics("arrow")) > 0

    class Enough(Exception):
        pass

    def once(progress: invitro.Progress) -> None:
        if progress.kind == "step":
            raise Enough

    with pytest.raises(Enough):
        experiment.run(out, device="cpu", progress=once)
    assert stopped.status["state"] == "stopped"


def test_a_run_that_was_stopped_has_the_same_results(run: invitro.Run, tmp_path: Path) -> None:
    def stop(progress: invitro.Progress) -> None:
        if progress.kind == "evaluation" and progress.step == 40:
            raise KeyboardInterrupt

    out = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        run.experiment.run(out, device="cpu", progress=stop)
    assert not invitro.Run(out).done
    again = run.experiment.run(out, device="cpu", quiet=True)
    assert again.done
    for name in ("metrics.jsonl", "samples.jsonl", "metrics.parquet", "words.parquet"):
        assert (out / name).read_bytes() == (run.path / name).read_bytes()


def test_other_threads_go_on(tiny: invitro.Experiment, tmp_path: Path) -> None:
    counted, done = [0], threading.Event()

    def count() -> None:
        while not done.wait(0.001):
            counted[0] += 1

    other = threading.Thread(target=count)
    other.start()
    tiny.run(tmp_path / "run", device="cpu", quiet=True)
    done.set()
    other.join()
    assert counted[0] > 0


def test_what_cannot_run_is_told(tiny: invitro.Experiment, tmp_path: Path) -> None:
    with pytest.raises(invitro.Error, match="no device"):
        tiny.run(tmp_path / "run", device="abacus")
    other = invitro.Experiment(config=TINY, train__steps=15)
    other.run(tmp_path / "run", device="cpu", quiet=True)
    with pytest.raises(invitro.Error, match="train.steps"):
        invitro.Experiment(config=TINY, train__steps=16).run(tmp_path / "run", device="cpu", quiet=True)
    tiny.run(tmp_path / "run", device="cpu", quiet=True, force=True)
    assert np.isfinite(invitro.Run(tmp_path / "run").summary["seconds.train"])
