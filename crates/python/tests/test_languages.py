"""What needs numpy alone."""

import os
import pickle
import signal
import threading
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import invitro
import numpy as np
import pytest

from conftest import TINY


def test_languages_have_words(tiny: invitro.Experiment) -> None:
    a, b = tiny.languages
    assert (a.name, b.name) == ("A", "B")
    assert a.words.keys() == b.words.keys() and a.words != b.words
    assert not a.masked and b.masked and b.masked <= b.words.keys()
    assert a.distances == {"B": b.distances["A"]}
    assert a.share + b.share == pytest.approx(1)


def test_sampling_stops_at_ctrl_c(tiny: invitro.Experiment) -> None:
    tiny.sample(1, "A")
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    # A process in the background may have been started with SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        begun = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            tiny.sample(3_000_000, "A")
        assert time.monotonic() - begun < 60
    finally:
        signal.signal(signal.SIGINT, before)


def test_samples_are_true_sentences(tiny: invitro.Experiment) -> None:
    for task in ("T0", "T1", "T2"):
        for masked in (False, True):
            rows = tiny.sample(20, "B", task, masked=masked)
            assert {(row.language, row.task, row.masked) for row in rows} == {("B", task, masked)}
            assert all(verdict.ok for verdict in tiny.check([row.words for row in rows], "B"))
    assert tiny.sample(5, "B", held_out=True) != tiny.sample(5, "B")


def test_verdicts_say_what_is_wrong(tiny: invitro.Experiment) -> None:
    words = tiny.sample(1, "A", "T0")[0].words.split()
    right, empty, unknown, torn = tiny.check([" ".join(words), "", "xyzzy", " ".join(words[:1] * 2)], "A")
    assert right.ok and right.failure is None and right.reason is None and right.words == len(words)
    assert empty.failure == invitro.Failure("empty")
    assert unknown.failure == invitro.Failure("unknown_word", at=0) and unknown.unknown == (0,) and unknown.symbols == (None,)
    assert torn.valid and not torn.grammatical and torn.reason


def test_batches_are_the_rows_of_training(tiny: invitro.Experiment) -> None:
    size = tiny.settings["train.batch"]
    assert isinstance(size, int)
    rows = tiny.sample(3 * size)
    for step in (1, 2, 3):
        batch = tiny.batch(step)
        own = rows[(step - 1) * size : step * size]
        assert batch.ids.dtype == np.uint32 and batch.offsets.dtype == np.int64
        assert [list(row) for row in batch.rows()] == [tiny.encode(row.text) for row in own]
        assert [f"T{task}" for task in batch.tasks] == [row.task for row in own]
        assert [tiny.decode(row) for row in batch.rows()] == [row.text for row in own]


def test_ids_of_a_language(tiny: invitro.Experiment) -> None:
    row = tiny.sample(1, "B", "T1")[0]
    assert tiny.encode(row.text, "B") == tiny.encode(row.text)
    own = invitro.Experiment(config=TINY, tokenizer__share="none")
    assert own.vocab > tiny.vocab
    with pytest.raises(invitro.Error, match="say which language"):
        own.encode(row.text)
    batch = own.batch(1)
    for row, ids in zip(own.sample(len(batch.tasks)), batch.rows()):
        assert own.encode(row.text, row.language) == list(ids)


def test_settings_in_any_notation() -> None:
    one = invitro.Experiment(config=TINY, language__distance=0.5, eval__also=[3, 4], seeds__data=np.int64(2))
    assert (one.settings["language.distance"], one.settings["eval.also"], one.settings["seeds.data"]) == (0.5, [3, 4], 2)
    ways: list[dict[str, object]] = [
        {"language.distance": np.float32(0.5), "seeds.data": 2},
        {"language": {"distance": 0.5}, "seeds": {"data": 2}},
        {"language__distance": 0.5, "seeds__data": 2},
    ]
    assert len({invitro.Experiment("quick", way) for way in ways}) == 1
    assert invitro.Experiment("quick", name="a 'name' é").settings["name"] == "a 'name' é"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"language.distnce": 1}, "the nearest known key is `language.distance`"),
        ({"language.distance": 3.0}, "language.distance"),
        ({"train.steps": None}, "`train.steps` is None, but must be a number"),
        ({"seeds.data": [1, 2]}, "an Experiment is of one run"),
        ({"name": "a/b"}, "can name a folder"),
    ],
)
def test_errors_are_sentences(settings: dict[str, object], sentence: str) -> None:
    with pytest.raises(invitro.Error, match=sentence) as raised:
        invitro.Experiment("quick", settings)
    assert isinstance(raised.value, ValueError)


def test_wrong_questions_are_refused(tiny: invitro.Experiment, tmp_path: Path) -> None:
    questions: list[tuple[Callable[[], object], str]] = [
        (lambda: invitro.Experiment("slow"), "quick, first, paper and converged"),
        (lambda: invitro.Experiment(config=tmp_path / "none.toml"), "none.toml"),
        (lambda: tiny.batch(0), "steps 1 to 60"),
        (lambda: tiny.batch(61), "steps 1 to 60"),
        (lambda: tiny.batch(-1), "0 or more"),
        (lambda: tiny.sample(1, "C"), "there are A, B"),
        (lambda: tiny.sample(1, "A", "T9"), "there is no task T9"),
        (lambda: tiny.sample(1, "A", masked=True), "nothing is masked in A"),
        (lambda: tiny.sample(1, masked=True), "name a language"),
        (lambda: tiny.sample(1, task="T3"), "translation"),
        (lambda: tiny.check("a sentence", "A"), "a list of sentences"),
        (lambda: tiny.decode([10**6]), "there is no token"),
        (lambda: invitro.Run(tmp_path), "there is no run"),
        (lambda: invitro.Study(tmp_path), "there is no study"),
        (lambda: invitro.Experiment.open(tmp_path), str(tmp_path)),
        (lambda: tiny.evaluate(3), "is no model"),  # type: ignore[arg-type]
    ]
    for ask, sentence in questions:
        with pytest.raises(invitro.Error, match=sentence):
            ask()


def test_experiments_travel(tiny: invitro.Experiment, tmp_path: Path) -> None:
    grammar = tmp_path / "own.toml"
    grammar.write_text("[language]\ndistance = 0.25\n")
    own = invitro.Experiment("quick", grammar, seeds__data=1)
    for experiment in (tiny, own):
        again = pickle.loads(pickle.dumps(experiment))
        assert again == experiment and hash(again) == hash(experiment)
    sent = pickle.dumps(own)
    grammar.write_text("[language]\ndistance = 0.5\n")
    with pytest.raises(invitro.Error, match="no longer what they were"):
        pickle.loads(sent)


def test_rows_are_streamed(tiny: invitro.Experiment) -> None:
    rows = tiny.sample(3000, "B", "T1", seed=5)
    assert tiny.sample(1000, "B", "T1", seed=5, start=2000) == rows[2000:]
    assert list(islice(tiny.stream("B", "T1", seed=5), 3000)) == rows
    assert tiny.sample(3000, "B", "T1") != rows
    training = tiny.sample(2000)
    assert tiny.sample(500, start=1500) == training[1500:]
    assert list(tiny.stream(n=2000)) == training
    assert tiny.sample(300, task="T2") == [row for row in training if row.task == "T2"][:300]
    for wrong, why in [({"seed": 1}, "name a language"), ({"start": 1, "task": "T1"}, "name a language"), ({"n": -1}, "0 or more")]:
        with pytest.raises(invitro.Error, match=why):
            tiny.sample(**wrong)  # type: ignore[arg-type]


def test_objects_fit_a_cell(tiny: invitro.Experiment) -> None:
    hostile = invitro.Experiment("quick", name="<script>")
    verdict = tiny.check(["<b> " * 1000], "A")[0]
    objects: list[invitro.Experiment | invitro.Language | invitro.Verdict] = [tiny, hostile, *tiny.languages, verdict]
    for shown in objects:
        html = shown._repr_html_()
        assert html.count("<tr") <= 20 and len(html) < 5000
        assert "<script>" not in html and "<b> " not in html
    evaluation = invitro.Evaluation([invitro.Row("r", 1, "A", "T1", "facts", 0.5, None, None, 3)] * 1000)
    assert repr(evaluation) == "Evaluation(1,000 rows)" and "12 of 1,000 rows" in evaluation._repr_html_()
