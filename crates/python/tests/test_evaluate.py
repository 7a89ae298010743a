"""Models of others, measured as invitro measures its own."""

from pathlib import Path
from typing import Any

import invitro
import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

# Log-probabilities of f32 networks that add up in another order.
TOLERANCE = 1e-5


def recorded(run: invitro.Run, step: int) -> dict[tuple[str, str, str], Any]:
    """The rows of `metrics.parquet` but those of the training itself."""
    table = run.metrics()
    table = table[(table.step == step) & ~table.metric.isin(["train_loss", "grad_norm", "lr"])]
    return {(row.condition, row.task, row.metric): row for row in table.itertuples()}


def compare(rows: invitro.Evaluation, expected: dict[tuple[str, str, str], Any]) -> None:
    found = {(row.condition, row.task, row.metric): row for row in rows}
    assert found.keys() == expected.keys() and len(found) == len(rows)
    for key, row in found.items():
        want = expected[key]
        assert row.n == want.n, key
        exact = key[1] in ("T0", "T1", "T2", "T3") or "@" in key[2] or key[2].startswith(("unigram", "bigram"))
        for have, wanted in [(row.value, want.value), (row.low, want.low), (row.high, want.high)]:
            if have is None:
                assert wanted is None or np.isnan(wanted)
            else:
                assert have == (wanted if exact else pytest.approx(wanted, abs=TOLERANCE)), key


def test_an_exported_run_has_the_measures_of_its_own(run: invitro.Run, tmp_path: Path) -> None:
    exported = run.export(tmp_path / "exported")
    model = transformers.AutoModelForCausalLM.from_pretrained(exported)
    model.train()
    rows = run.experiment.evaluate(model)
    assert model.training, "the model is left as it was"
    compare(rows, recorded(run, 90))
    t1 = rows.value("B_masked", "T1", "grammaticality")
    assert t1 == recorded(run, 90)[("B_masked", "T1", "grammaticality")].value
    table = rows.table()
    assert list(table.columns) == list(run.metrics().columns) and len(table) == len(rows) == len(rows.table("polars"))


def test_functions_and_earlier_steps(run: invitro.Run) -> None:
    model = run.model(60)

    def logits(ids: Any) -> Any:
        with torch.inference_mode():
            return model(torch.from_numpy(ids)).logits.numpy()

    told: list[invitro.Progress] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("invitro._progress._Lines.EVERY", 0.0)
        rows = run.experiment.evaluate(logits, step=60, progress=told.append)
    assert told and all(one.step == 60 and "sequences read" in str(one) for one in told)
    baselines = {key: row for key, row in recorded(run, 90).items() if key[2].startswith(("unigram", "bigram"))}
    compare(rows, recorded(run, 60) | baselines)


class Answers:
    """The exported model by its own `score`, `rank` and `generate`."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def logits(self, prompts: Any, continuations: Any) -> Any:
        for prompt, more in zip(prompts, continuations):
            with torch.inference_mode():
                logits = self.model(torch.tensor([[*prompt, *more]])).logits[0, len(prompt) - 1 : -1]
            yield logits, torch.tensor(more)


class Scoring(Answers):
    def score(self, prompts: Any, continuations: Any) -> Any:
        for logits, more in self.logits(prompts, continuations):
            yield logits.log_softmax(-1)[range(len(more)), more]


class Generating(Answers):
    def generate(self, prompts: Any, max_new_tokens: Any) -> Any:
        for prompt, most in zip(prompts, max_new_tokens):
            out = self.model.generate(torch.tensor([prompt]), max_new_tokens=most, do_sample=False)
            yield out[0, len(prompt) :].tolist()


class All(Scoring, Generating):
    def rank(self, prompts: Any, continuations: Any) -> Any:
        for logits, more in self.logits(prompts, continuations):
            own = logits[range(len(more)), more]
            yield (logits > own[:, None]).sum(-1)


def test_objects_are_asked_what_they_can_say(run: invitro.Run) -> None:
    model = run.model()
    expected = recorded(run, 90)

    def of_network(key: tuple[str, str, str]) -> bool:
        return key[1] in ("T0", "T1", "T2") or key[2].startswith("network") or key[1] == "loss" and key[2] != "floor"

    def said(key: tuple[str, str, str], scores: bool, ranks: bool, generates: bool) -> bool:
        if not of_network(key):
            return True
        if key[1].startswith("T"):
            return generates and key[1] == "T1"
        return ranks if "@" in key[2] else scores

    models: list[tuple[Any, tuple[bool, bool, bool]]] = [
        (Scoring(model), (True, False, False)),
        (Generating(model), (False, False, True)),
        (All(model), (True, True, True)),
    ]
    for answers, can in models:
        rows = run.experiment.evaluate(answers)
        compare(rows, {key: row for key, row in expected.items() if said(key, *can)})


def test_wrong_answers_are_told(tiny: invitro.Experiment) -> None:
    vocab = tiny.vocab

    def shapes(ids: Any) -> Any:
        return np.zeros((*ids.shape, vocab + 1))

    def nothing(ids: Any) -> Any:
        return np.full((*ids.shape, vocab), np.nan)

    def raising(ids: Any) -> Any:
        raise LookupError("out of tea")

    class Short:
        def score(self, prompts: Any, continuations: Any) -> Any:
            return [[0.0]] * len(prompts)

    models: list[tuple[Any, type[Exception], str]] = [
        (shapes, invitro.Error, "the model gives logits of shape"),
        (nothing, invitro.Error, "not numbers"),
        (raising, LookupError, "out of tea"),
        (Short(), invitro.Error, "a number for each of its tokens"),
    ]
    for model, error, sentence in models:
        with pytest.raises(error, match=sentence):
            tiny.evaluate(model)


def test_hidden_states_lead_to_the_logits(run: invitro.Run) -> None:
    sentences = [row.words for row in run.experiment.sample(3, "B", "T0")]
    states = run.hidden_states(sentences, "B")
    model = run.model()
    for sentence, state in zip(sentences, states):
        ids = run.experiment.encode(f"<T0:B> {sentence}")
        assert state.shape == (2, len(ids), 32) and state.dtype == np.float32
        with torch.inference_mode():
            logits = model(torch.tensor([ids])).logits[0]
            again = model.lm_head(torch.from_numpy(state[-1]))
        assert torch.allclose(logits, again, atol=1e-5)


def small_gpt(experiment: invitro.Experiment) -> Any:
    torch.manual_seed(0)
    size = {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 161, "vocab_size": experiment.vocab}
    config = transformers.GPT2Config(**size, initializer_range=0.3, bos_token_id=1, eos_token_id=1)
    return transformers.GPT2LMHeadModel(config).eval()


def test_a_cache_changes_nothing(tiny: invitro.Experiment) -> None:
    model = small_gpt(tiny)
    calls: list[tuple[bool, int]] = []
    model.register_forward_pre_hook(
        lambda _, args, given: calls.append(("past_key_values" in given, (*args, *given.values())[0].numel())), with_kwargs=True
    )
    cached = tiny.evaluate(model, quiet=True)
    assert sum(with_cache for with_cache, _ in calls) > 10
    tokens = sum(size for _, size in calls)
    calls.clear()
    # A function has no cache.
    without = tiny.evaluate(lambda ids: model(torch.from_numpy(ids)).logits.detach(), quiet=True)
    assert not any(with_cache for with_cache, _ in calls) and tokens < sum(size for _, size in calls) / 2
    compare(cached, {(row.condition, row.task, row.metric): row for row in without if row.value is not None})


class Forgetful(transformers.GPT2LMHeadModel):  # type: ignore[misc,name-defined]
    """A model whose cache loses the place of every token."""

    def forward(
        self, input_ids: Any, attention_mask: Any = None, position_ids: Any = None, past_key_values: Any = None, use_cache: Any = None
    ) -> Any:
        return super().forward(input_ids, past_key_values=past_key_values, use_cache=use_cache)


def test_a_cache_that_is_wrong_is_not_used(tiny: invitro.Experiment) -> None:
    model = Forgetful(small_gpt(tiny).config).eval()
    model.load_state_dict(small_gpt(tiny).state_dict())
    assert tiny.evaluate(model, quiet=True) == tiny.evaluate(
        lambda ids: model(torch.from_numpy(ids)).logits.detach(), quiet=True
    )


def test_probes_are_chosen(tiny: invitro.Experiment) -> None:
    model = small_gpt(tiny)
    whole = {row[1:5]: row for row in tiny.evaluate(model, quiet=True)}
    parts = {name: tiny.evaluate(model, only=[name], quiet=True) for name in ("generation", "reach", "contrast", "ngrams", "loss")}
    assert {row.task for row in parts["generation"]} == {"T0", "T1", "T2"}
    assert all(row.metric.startswith("network.") for row in parts["contrast"])
    chosen = [row for rows in parts.values() for row in rows]
    assert len(chosen) == len(whole) and all(whole[row[1:5]] == row for row in chosen)
    with pytest.raises(invitro.Error, match="`nonsense` is no probe: there are generation, reach, contrast"):
        tiny.evaluate(model, only=["contrast", "nonsense"])
    with pytest.raises(invitro.Error, match="`forms` is switched off"):
        tiny.evaluate(model, only=["forms"])
    with pytest.raises(invitro.Error, match="put the one into a list"):
        tiny.evaluate(model, only="contrast")
