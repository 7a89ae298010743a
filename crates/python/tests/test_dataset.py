"""Training rows in PyTorch: the same for any number of workers, and after an interruption."""

from pathlib import Path
from typing import Any

import invitro
import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader  # noqa: E402

STEPS = 13


@pytest.fixture(scope="module")
def short() -> invitro.Experiment:
    from conftest import TINY

    return invitro.Experiment(config=TINY, train__steps=STEPS, train__warmup=1)


def loaded(dataset: Any, workers: int, **more: Any) -> list[dict[str, Any]]:
    return list(DataLoader(dataset, batch_size=None, num_workers=workers, **more))


def same(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> bool:
    def equal(a: Any, b: Any) -> bool:
        return bool(torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b)

    return len(one) == len(other) and all(
        a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a) for a, b in zip(one, other)
    )


@pytest.mark.parametrize("packed", [False, True])
def test_workers_do_not_matter(short: invitro.Experiment, packed: bool) -> None:
    alone = loaded(short.dataset(packed=packed), 0)
    assert [batch["step"] for batch in alone] == list(range(1, STEPS + 1))
    for workers in (1, 4):
        assert same(alone, loaded(short.dataset(packed=packed), workers))
    if not packed:
        assert same(alone, loaded(short.dataset(), 2, multiprocessing_context="spawn"))


def test_rows_are_those_of_training(short: invitro.Experiment) -> None:
    for batch, packed in zip(loaded(short.dataset(), 0), loaded(short.dataset(packed=True), 0)):
        ids, offsets, tasks = short.batch(batch["step"])
        assert np.array_equal(packed["input_ids"].numpy(), ids) and np.array_equal(packed["offsets"].numpy(), offsets)
        there = batch["attention_mask"].bool()
        assert np.array_equal(batch["input_ids"][there].numpy(), ids)
        assert np.array_equal(there.sum(1).numpy(), np.diff(offsets))
        assert (batch["input_ids"][~there] == 0).all() and (batch["labels"][~there] == -100).all()
        assert (batch["labels"][:, 0] == -100).all()
        assert torch.equal(batch["labels"][:, 1:][there[:, 1:]], batch["input_ids"][:, 1:][there[:, 1:]])
        assert np.array_equal(batch["tasks"].numpy(), tasks)


@pytest.mark.parametrize(("before", "then"), [(0, 0), (0, 4), (4, 0), (3, 2)])
def test_a_training_goes_on(short: invitro.Experiment, before: int, then: int) -> None:
    whole = loaded(short.dataset(), 0)
    dataset = short.dataset()
    first = []
    for batch in DataLoader(dataset, batch_size=None, num_workers=before):
        first.append(batch)
        if len(first) == 5:
            break
    if before:
        with pytest.raises(invitro.Error, match="made by workers"):
            dataset.state_dict()
        state = dataset.state_dict(first[-1]["step"])
    else:
        state = dataset.state_dict()
    later = short.dataset()
    later.load_state_dict(state)
    assert len(later) == STEPS - 5
    assert same(whole, first + loaded(later, then))
    assert same(whole[5:], loaded(short.dataset(after=5), then))


def test_states_of_others_are_refused(short: invitro.Experiment, tiny: invitro.Experiment) -> None:
    with pytest.raises(invitro.Error, match="the state is of the experiment"):
        tiny.dataset().load_state_dict(short.dataset().state_dict())
    with pytest.raises(invitro.Error, match="training has steps 1 to 13"):
        short.dataset(after=14)


class Broken:
    """An experiment whose third batch cannot be made."""

    id, steps, vocab = "broken", 6, 10

    def batch(self, step: int) -> Any:
        if step == 3:
            raise invitro.Error("there is no third batch")
        return np.arange(2, dtype=np.uint32), np.array([0, 2]), np.zeros(1, dtype=np.uint8)


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_errors_of_workers_are_raised(workers: int) -> None:
    from invitro._dataset import TrainingRows

    with pytest.raises(invitro.Error, match="there is no third batch"):
        loaded(TrainingRows(Broken(), 0, False), workers)


def model_of(experiment: invitro.Experiment) -> Any:
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    size = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.LlamaConfig(vocab_size=experiment.vocab, max_position_embeddings=160, **size)
    return transformers.LlamaForCausalLM(config)


def test_packed_rows_have_the_loss_of_padded_ones(short: invitro.Experiment) -> None:
    model = model_of(short).eval()
    for padded, packed in zip(short.dataset(), short.dataset(packed=True)):
        one, other = invitro.collate([padded]), invitro.collate([packed])
        assert other["input_ids"].numel() == int(one["attention_mask"].sum())
        with torch.inference_mode():
            assert torch.isclose(model(**one).loss, model(**other).loss, atol=1e-5)
    with pytest.raises(invitro.Error, match="per_device_train_batch_size must be 1"):
        invitro.collate([padded, padded])


@pytest.mark.parametrize("packed", [False, True])
def test_trainer_reads_the_steps_in_order(short: invitro.Experiment, packed: bool, tmp_path: Path) -> None:
    pytest.importorskip("accelerate")
    transformers = pytest.importorskip("transformers")
    steps: list[int] = []

    def collate(batches: Any) -> dict[str, Any]:
        steps.append(batches[0]["step"])
        return invitro.collate(batches)

    arguments = transformers.TrainingArguments(
        str(tmp_path), per_device_train_batch_size=1, max_steps=STEPS, remove_unused_columns=False, report_to=[],
        save_strategy="no", use_cpu=True,
    )
    trainer = transformers.Trainer(
        model_of(short), arguments, train_dataset=short.dataset(packed=packed), data_collator=collate
    )
    trained = trainer.train()
    assert trained.global_step == STEPS and steps[:STEPS] == list(range(1, STEPS + 1))
