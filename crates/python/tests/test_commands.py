"""The command line as the wheel has it, and its commands as functions."""

import json
import math
import signal
import subprocess
import sys
import time
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import invitro
import pytest
from conftest import TINY


def command(*args: str, **more: Any) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-m", "invitro", *args], capture_output=True, text=True, timeout=60, **more)


def test_the_command_is_the_program() -> None:
    assert invitro.__version__ in command("--version").stdout
    assert command("config", "--preset", "quick").stdout.startswith("# An experiment")
    wrong = command("config", "--nonsense")
    assert wrong.returncode == 2 and "--nonsense" in wrong.stderr and "Usage: invitro config" in wrong.stderr
    refused = command("config", "language.distance=2")
    assert (refused.returncode, refused.stdout) == (2, "") and refused.stderr.startswith("error: ")


def test_the_wheel_has_the_command() -> None:
    wheel = distribution("invitro-lm")
    assert wheel.version == invitro.__version__
    (script,) = wheel.entry_points.select(group="console_scripts", name="invitro")
    assert script.load() is not None


def test_ctrl_c_saves(tmp_path: Path) -> None:
    args = [sys.executable, "-m", "invitro", "run", "--config", str(TINY), "train.steps=1000000", "--out", str(tmp_path / "run")]
    process = subprocess.Popen(args, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        deadline = time.monotonic() + 60
        metrics = tmp_path / "run/metrics.jsonl"
        while not (metrics.is_file() and metrics.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    finally:
        process.kill()
    assert "the same command resumes it" in said
    assert invitro.Run(tmp_path / "run").status["state"] == "stopped"


def test_scores_are_those_of_the_command(run: invitro.Run) -> None:
    sentences = [row.words for row in run.experiment.sample(5, "A", "T0")]
    scores = invitro.score(run, sentences, "A")
    assert len(scores) == 5
    for sentence, scored in zip(sentences, scores):
        assert [word.word for word in scored.words] == [*sentence.split(), "<eos>"]
        assert math.isclose(scored.logprob, sum(word.logprob for word in scored.words))
    printed = command("score", str(run.path), "--language", "A", "--json", input="\n".join(sentences) + "\n").stdout
    assert [json.loads(line)["logprob"] for line in printed.splitlines()] == [scored.logprob for scored in scores]
    pairs = invitro.score(run.path, list(zip(sentences, sentences[1:])), "A")
    assert [(first.logprob, second.logprob) for first, second in pairs] == [
        (first.logprob, second.logprob) for first, second in zip(scores, scores[1:])
    ]
    assert invitro.score(run, [], "A") == []


def test_outputs_are_in_the_order_of_their_prompts(run: invitro.Run) -> None:
    words = list(run.experiment.languages[0].words.values())[:3]
    outputs = invitro.generate(run, words, "A", n=2, seed=4)
    assert [[output.prompt for output in own] for own in outputs] == [[word, word] for word in words]
    assert outputs[1] == invitro.generate(run, [words[1]], "A", n=2, seed=4)[0]


def test_errors_are_the_commands_sentences(run: invitro.Run, tmp_path: Path) -> None:
    with pytest.raises(invitro.Error, match="^`xyzzy` is not a word of A"):
        invitro.generate(run, [run.experiment.languages[0].words["noun.0.0"], "xyzzy"], "A")
    with pytest.raises(invitro.Error, match="line break"):
        invitro.score(run, ["one\ntwo"])
    with pytest.raises(invitro.Error, match="one is empty"):
        invitro.score(run, ["one", " "])
    with pytest.raises(invitro.Error, match=str(tmp_path)):
        invitro.report(tmp_path)


def test_tokenizers_are_measured(tiny: invitro.Experiment, run: invitro.Run, tmp_path: Path) -> None:
    measures = invitro.tokenizer_measure(tiny, sentences=50)
    printed = command("tokenizer", "measure", "--config", str(TINY), "--sentences", "50", "--json").stdout
    assert measures == json.loads(printed) and measures["sentences"] == 50
    assert invitro.tokenizer_measure(run.experiment)["vocab"] == measures["vocab"]
    own = {}
    for name in "AB":
        own[name] = tmp_path / f"{name}.txt"
        own[name].write_text("\n".join(row.words for row in tiny.sample(20, name, "T0")), encoding="utf-8")
    (tmp_path / "tokenizer.json").write_text(tiny.tokenizer_json, encoding="utf-8")
    assert invitro.tokenizer_measure(tokenizer=tmp_path / "tokenizer.json", text=own)["text"]["lines"] == 20


def test_a_study_is_run_and_reported(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    file = tmp_path / "study.toml"
    file.write_text(f'name = "small"\nbase = "{TINY}"\n[factors]\nlanguage.distance = [0.0, 0.25, 0.5]\n', encoding="utf-8")
    study = invitro.run_study(file, tmp_path / "study", {"train.steps": 20, "train.warmup": 2}, device="cpu", limit=2, quiet=True)
    runs = study.runs()
    assert (runs["state"] == "done").sum() == 2
    again = invitro.run_study(tmp_path / "study", device="cpu", quiet=True)
    assert (again.runs()["state"] == "done").all()
    page = invitro.report(again, page_only=True)
    assert page == tmp_path / "study/report.html" and page.is_file()
    assert invitro.report(again, page_only=True) == page, "its own report is replaced"
    page.write_text(page.read_text(encoding="utf-8") + "a note", encoding="utf-8")
    with pytest.raises(invitro.Error, match="--force"):
        invitro.report(again, page_only=True)
