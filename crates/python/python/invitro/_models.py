"""Models of somebody else's, asked what invitro's own are asked."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypedDict, overload, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from . import _html
from ._cache import KeyValueCache
from ._invitro import Error
from ._optional import needed

if TYPE_CHECKING:
    import pandas
    import polars

Ids = Sequence[Sequence[int]]


@runtime_checkable
class Scores(Protocol):
    """A model that says how likely tokens are."""

    def score(self, prompts: Ids, continuations: Ids) -> Sequence[Sequence[float]]:
        """The log-probability, in nats, of every token of each continuation of its prompt."""
        ...


@runtime_checkable
class Ranks(Protocol):
    """A model that says how many tokens are likelier, which reachability needs."""

    def rank(self, prompts: Ids, continuations: Ids) -> Sequence[Sequence[int]]:
        """Of every token of each continuation of its prompt, how many tokens of the vocabulary are likelier."""
        ...


@runtime_checkable
class Generates(Protocol):
    """A model that goes on from prompts, decoding greedily."""

    def generate(self, prompts: Ids, max_new_tokens: Sequence[int]) -> Sequence[Sequence[int]]:
        """What follows each prompt, up to and with `<eos>` (1). With a parameter `temperature`, T0 and T2 are asked, too."""
        ...


Logits = Callable[[NDArray[np.int64]], Any]
"""From ids, rows by positions, to logits, rows by positions by tokens: an array, a tensor, or an object that has `logits`."""


class Row(NamedTuple):
    """A measured number: a row of `metrics.parquet`, which `docs/formats.md` explains."""

    run: str
    step: int
    condition: str
    task: str
    metric: str
    value: float
    low: float | None
    high: float | None
    n: int


class Evaluation(list[Row]):
    """The rows of an evaluation; `pandas.DataFrame(rows)` is a table of them."""

    def __repr__(self) -> str:
        return f"Evaluation({len(self):,} rows)"

    def _repr_html_(self) -> str:
        shown = [row[2:] for row in self[: _html.MOST]]
        return _html.table("Evaluation", shown, Row._fields[2:], len(self))

    def value(self, condition: str, task: str, metric: str) -> float:
        """One of the numbers."""
        for row in self:
            if (row.condition, row.task, row.metric) == (condition, task, metric):
                return row.value
        raise Error(f"there is no row of {condition}, {task}, {metric}: nothing was counted, or the model was not asked for it")

    @overload
    def table(self, frame: Literal["pandas"] = ...) -> pandas.DataFrame: ...
    @overload
    def table(self, frame: Literal["polars"]) -> polars.DataFrame: ...
    def table(self, frame: Literal["pandas", "polars"] = "pandas") -> pandas.DataFrame | polars.DataFrame:
        """As a table of pandas or polars."""
        if frame not in ("pandas", "polars"):
            raise Error(f"frame is {frame!r}, but must be pandas or polars")
        library, names = needed(frame, f"a table of {frame}"), list(Row._fields)
        if frame == "pandas":
            return library.DataFrame(self, columns=names)
        return library.DataFrame(self, schema=names, orient="row", infer_schema_length=None)


class Asked(TypedDict):
    """What the engine calls."""

    logits: Callable[[bytearray, int, bytearray, bytearray], bytes] | None
    prefill: Callable[[list[list[int]]], bytes | None] | None
    extend: Callable[[list[int], list[int]], bytes] | None
    score: Callable[[list[list[int]], list[list[int]]], list[list[float]]] | None
    rank: Callable[[list[list[int]], list[list[int]]], list[list[int]]] | None
    generate: Callable[[list[list[int]], list[int], float], list[list[int]]] | None
    samples: bool


@contextmanager
def asked(model: object, vocab: int, count: Callable[[int], None]) -> Iterator[Asked]:
    """A model as the engine asks it; a network of PyTorch is in evaluation mode meanwhile."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(model, torch.nn.Module):
        was_training = model.training
        model.eval()
        try:
            answers = _by_logits(_network(model, torch), vocab, count)
            if KeyValueCache.is_there(model):
                cache = KeyValueCache(model, torch, vocab, count)
                answers["prefill"], answers["extend"] = cache.prefill, cache.extend
            yield answers
        finally:
            model.train(was_training)
    elif isinstance(model, (Scores, Generates)):
        yield _by_answers(model, count)
    elif callable(model):
        yield _by_logits(model, vocab, count)
    else:
        raise Error(f"{type(model).__name__} is no model: it is neither callable nor has it `score` or `generate`")


def _network(model: Any, torch: Any) -> Logits:
    parameter = next(model.parameters(), None)
    device = "cpu" if parameter is None else parameter.device

    def logits(ids: NDArray[np.int64]) -> Any:
        with torch.inference_mode():
            return model(torch.from_numpy(ids).to(device))

    return logits


def _by_logits(model: Logits, vocab: int, count: Callable[[int], None]) -> Asked:
    def logits(ids: bytearray, length: int, sequences: bytearray, positions: bytearray) -> bytes:
        read = np.frombuffer(ids, dtype="<u4").reshape(-1, length).astype(np.int64)
        given = model(read)
        out: Any = getattr(given, "logits", given[0] if isinstance(given, tuple) else given)
        shape = tuple(out.shape)
        if shape != (*read.shape, vocab):
            rows, columns = read.shape
            raise Error(
                f"the model gives logits of shape {shape} for {rows} rows of {columns} ids, but must give "
                f"({rows}, {columns}, {vocab})"
            )
        at = [np.frombuffer(places, dtype="<u4").astype(np.int64) for places in (sequences, positions)]
        picked = out[at[0], at[1]]
        if hasattr(picked, "detach"):
            picked = picked.detach().float().cpu().numpy()
        count(len(read))
        return np.ascontiguousarray(picked, dtype="<f4").tobytes()

    return Asked(logits=logits, prefill=None, extend=None, score=None, rank=None, generate=None, samples=False)


def _by_answers(model: object, count: Callable[[int], None]) -> Asked:
    score = rank = generate = None
    samples = False
    if isinstance(model, Scores):
        scores = model.score

        def score(prompts: list[list[int]], continuations: list[list[int]]) -> list[list[float]]:
            answers = [[float(value) for value in one] for one in scores(prompts, continuations)]
            count(len(answers))
            return answers

    if isinstance(model, Ranks):
        ranks = model.rank

        def rank(prompts: list[list[int]], continuations: list[list[int]]) -> list[list[int]]:
            answers = [[int(value) for value in one] for one in ranks(prompts, continuations)]
            count(len(answers))
            return answers

    if isinstance(model, Generates):
        generates: Any = model.generate
        samples = "temperature" in inspect.signature(generates).parameters

        def generate(prompts: list[list[int]], most: list[int], temperature: float) -> list[list[int]]:
            more = {"temperature": temperature} if samples else {}
            answers = [[int(id) for id in one] for one in generates(prompts, most, **more)]
            count(len(answers))
            return answers

    return Asked(logits=None, prefill=None, extend=None, score=score, rank=rank, generate=generate, samples=samples)
