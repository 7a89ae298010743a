"""An experiment (its languages and sentences, its tokenizer, the rows its training reads), and a run of it in a folder."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from . import _html, _inside, _invitro, _language, _tables
from ._inside import Hidden, Patching
from ._language import Language, Sentence, Verdict
from ._models import Evaluation, Generates, Logits, Row, Scores, asked
from ._optional import needed
from ._progress import Progress, counter, teller
from ._settings import overrides as as_overrides
from ._tables import Frame

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    import tokenizers

    from ._dataset import TrainingRows
    from ._tables import Table

TASKS = ("T0", "T1", "T2", "T3")


class Batch(NamedTuple):
    """The rows of a training step, end to end: row i is `ids[offsets[i]:offsets[i + 1]]`."""

    ids: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    tasks: NDArray[np.uint8]
    """Of every row: 0 free generation, 1 unscrambling, 2 conditional generation, 3 translation."""

    def rows(self) -> list[NDArray[np.uint32]]:
        """Each row by itself."""
        return np.split(self.ids, self.offsets[1:-1])


class Experiment:
    """Everything a run is a function of.

    A preset, `quick` or `paper`; over it a file, or settings as a mapping; over both settings by name, with two
    underscores for a dot. `invitro config` lists them all.

    >>> experiment = Experiment("quick", language__distance=0.5, seeds__data=3)
    >>> experiment.settings["language.distance"]
    0.5
    >>> Experiment("quick", {"language.distance": 0.5, "seeds.data": 3}).id == experiment.id
    True
    """

    def __init__(
        self,
        preset: str = "quick",
        config: str | os.PathLike[str] | Mapping[str, object] | None = None,
        **overrides: object,
    ) -> None:
        settings = config if isinstance(config, Mapping) else {}
        path = None if config is None or isinstance(config, Mapping) else Path(config).absolute()
        self._from: tuple[object, ...] = (preset, path, [*as_overrides(settings), *as_overrides(overrides)])
        self._inner = _invitro.Experiment(preset, path, [*as_overrides(settings), *as_overrides(overrides)])

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Experiment:
        """The experiment of a run's folder."""
        return _opened(Path(folder).absolute(), None)

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (_opened, (*self._from, self.id)) if len(self._from) == 1 else (_loaded, (*self._from, self.id))

    def __repr__(self) -> str:
        return f"Experiment({self.settings['name']!r}, {self.id})"

    def _repr_html_(self) -> str:
        default = Experiment().settings
        own = [(key, value) for key, value in self.settings.items() if value != default.get(key)]
        rows = [("identity", self.id), ("steps", f"{self.steps:,}"), *own[: _html.MOST]]
        more = [("…", f"{len(own) - _html.MOST} settings more that `quick` has otherwise")] if len(own) > _html.MOST else []
        return _html.table(f"Experiment {self.settings['name']}", [*rows, *more])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Experiment) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    def id(self) -> str:
        """Its identity: the same settings and seeds have the same everywhere."""
        return self._inner.id

    @property
    def steps(self) -> int:
        """Steps of its training."""
        return self._inner.steps

    @cached_property
    def settings(self) -> Mapping[str, object]:
        """Every setting under its dotted key."""
        settings: dict[str, object] = json.loads(self._inner.settings())
        return settings

    def to_toml(self) -> str:
        """The whole experiment as a file, every default written out."""
        return self._inner.to_toml()

    @property
    def notes(self) -> list[str]:
        """What is allowed, but hardly meant."""
        return self._inner.notes()

    @cached_property
    def languages(self) -> list[Language]:
        """The languages, in their order.

        >>> a, b = Experiment("quick").languages
        >>> len(a.words) == len(b.words), len(a.masked), len(b.masked) > 0
        (True, 0, True)
        """
        return [_language.language(one) for one in json.loads(self._inner.languages())]

    def sample(
        self,
        n: int = 10,
        language: str | None = None,
        task: str | None = None,
        *,
        masked: bool = False,
        held_out: bool = False,
        seed: int = 0,
        start: int = 0,
    ) -> list[Sentence]:
        """Rows as `invitro corpus` writes them.

        Without a language, those that training reads, in its order. Of a language, others like them, of the task or,
        without one, in the mixture's shares; `masked` ones have what training withholds, `held_out` ones are among those
        that evaluation asks for. Another `seed` gives other rows of a language; `start` is the number of the first row.

        >>> Experiment("quick").sample(1, "B", "T1", masked=True)[0].masked
        True
        >>> Experiment("quick").sample(5, "B")[3:] == Experiment("quick").sample(2, "B", start=3)
        True
        """
        rows = self.stream(language, task, masked=masked, held_out=held_out, seed=seed, start=start, n=n)
        return list(rows)

    def stream(
        self,
        language: str | None = None,
        task: str | None = None,
        *,
        masked: bool = False,
        held_out: bool = False,
        seed: int = 0,
        start: int = 0,
        n: int | None = None,
    ) -> Iterator[Sentence]:
        """The rows of `sample` one after the other, without end unless `n` says how many.

        A few thousand are in memory at a time.

        >>> from itertools import islice
        >>> experiment = Experiment("quick")
        >>> list(islice(experiment.stream("B", seed=1), 3)) == experiment.sample(3, "B", seed=1)
        True
        """
        if task is not None and task not in TASKS:
            raise _invitro.Error(f"there is no task {task}: there are {', '.join(TASKS)}")
        if language is None and (masked or held_out):
            raise _invitro.Error("training shows nothing that is masked or held out: name a language")
        for number, what in ((seed, "seed"), (start, "start"), (0 if n is None else n, "n")):
            _whole(number, what)
        # What is wrong with the arguments is an error here, not when the first row is taken.
        self._inner.sample(0, language, task, masked, held_out, seed, start)
        if language is None and task is not None:
            # Training's rows are numbered over all tasks.
            return islice((row for row in self._rows(0, None) if row.task == task), n)
        return self._rows(start, n, language, task, masked, held_out, seed)

    def _rows(
        self,
        start: int,
        n: int | None,
        language: str | None = None,
        task: str | None = None,
        masked: bool = False,
        held_out: bool = False,
        seed: int = 0,
    ) -> Iterator[Sentence]:
        size, left = 1 << 8, n
        while left is None or left > 0:
            size = min(2 * size, 1 << 14)
            size = size if left is None else min(size, left)
            rows = json.loads(self._inner.sample(size, language, task, masked, held_out, seed, start))
            yield from map(_language.sentence, rows)
            start, left = start + size, None if left is None else left - size

    def check(self, sentences: Iterable[str], language: str) -> list[Verdict]:
        """Verdicts on sentences: known words, grammar, types, facts.

        >>> Experiment("quick").check(["xyzzy"], "A")[0].reason
        'word 1 `xyzzy` is not a word of A'
        """
        if isinstance(sentences, str):
            raise _invitro.Error("check takes a list of sentences: put the one into a list")
        return [_language.verdict(row) for row in json.loads(self._inner.check(list(sentences), language))]

    @cached_property
    def tokenizer(self) -> tokenizers.Tokenizer:
        """The tokenizer as an object of HuggingFace's `tokenizers`, which must be installed.

        `transformers.PreTrainedTokenizerFast(tokenizer_object=experiment.tokenizer)` makes it one of `transformers`. It does
        not know of `tokenizer.share` and `tokenizer.cut`; `encode` does.
        """
        library = needed("tokenizers", "the tokenizer as an object")
        found: tokenizers.Tokenizer = library.Tokenizer.from_str(self.tokenizer_json)
        return found

    @cached_property
    def tokenizer_json(self) -> str:
        """The tokenizer as the text of `tokenizer.json`."""
        return self._inner.tokenizer()

    @cached_property
    def vocab(self) -> int:
        """Tokens that a model must know: |V|, and more where languages have ids of their own."""
        return self._inner.vocab()

    def encode(self, text: str, language: str | None = None) -> list[int]:
        """The ids of a text, special tokens among its words. Needs no other package.

        The language says whose words they are, which counts under `tokenizer.share` and `tokenizer.cut` alone.
        """
        return self._inner.encode(text, language)

    def decode(self, ids: Sequence[int] | NDArray[np.integer]) -> str:
        """The text of ids.

        >>> experiment = Experiment("quick")
        >>> text = experiment.sample(1)[0].text
        >>> experiment.decode(experiment.encode(text)) == text
        True
        """
        return self._inner.decode([int(id) for id in ids])

    def batch(self, step: int) -> Batch:
        """The very rows that a step of training reads; the first is step 1.

        >>> batch = Experiment("quick").batch(1)
        >>> len(batch.offsets) - 1 == Experiment("quick").settings["train.batch"]
        True
        """
        ids, offsets, tasks = self._inner.batch(_whole(step, "step"))
        return Batch(
            np.frombuffer(ids, dtype="<u4").view(np.uint32),
            np.frombuffer(offsets, dtype="<i8").view(np.int64),
            np.frombuffer(tasks, dtype=np.uint8),
        )

    def dataset(self, *, after: int = 0, packed: bool = False) -> TrainingRows:
        """The batches of its training for PyTorch: an `IterableDataset` whose items are whole batches.

        `DataLoader(experiment.dataset(), batch_size=None, num_workers=4)` gives one a step, in training's order, with any
        number of workers: `input_ids`, `attention_mask` and `labels` as `transformers` takes them, filled up with 0, or `packed`
        ones as `batch` has them; `tasks`; and `step`. `collate` makes a model's arguments of either. It begins after the step `after`; `state_dict` and `load_state_dict`
        go on where a training was.
        """
        needed("torch", "a dataset")
        from ._dataset import TrainingRows

        return TrainingRows(self, after, packed)

    def evaluate(
        self,
        model: Scores | Generates | Logits,
        *,
        step: int | None = None,
        only: Sequence[str] | None = None,
        quiet: bool = False,
        progress: Callable[[Progress], object] | None = None,
    ) -> Evaluation:
        """What a model knows of the languages, measured as `invitro` measures its own.

        A model is a network of PyTorch, such as a causal model of `transformers`; or a function from ids (an array, rows
        by positions, filled up behind their ends) to logits (rows by positions by tokens): both are asked everything. Or
        an object with `score`, `rank` or `generate`: it is asked what these can say, see `Scores`, `Ranks` and `Generates`.

        A causal model of `transformers` decodes through its key-value cache, once that is seen to give the logits it gives
        without. `only` names the probes to ask: `generation` (T0 to T3), `reach`, `contrast`, `forms`, `ngrams` (the baselines),
        `loss`.

        The rows are those of `metrics.parquet`. What is sampled depends on the `step`, the last unless given, and on
        `seeds.model`. Ctrl-C stops it. How far it is, is told every few seconds, as `run` tells.
        """
        at = self.steps if step is None else _whole(step, "step")
        if isinstance(only, str):
            raise _invitro.Error("`only` is a list of probes: put the one into a list")
        wanted = None if only is None else list(only)
        with asked(model, self.vocab, counter(progress, quiet, at, self.steps)) as answers:
            rows = _invitro.evaluate(self._inner, at, wanted, **answers)
        return Evaluation(Row(**row) for row in json.loads(rows))

    def run(
        self,
        out: str | os.PathLike[str] | None = None,
        *,
        device: str = "auto",
        force: bool = False,
        quiet: bool = False,
        progress: Callable[[Progress], object] | None = None,
    ) -> Run:
        """Trains a model and evaluates it, as `invitro run` does, into a folder, `runs/NAME-ID` unless given.

        Goes on where an interrupted run left off. Ctrl-C stops it after the step at hand and saves it. What happens is
        told to `progress`, or in lines on standard error unless `quiet`.
        """
        path = None if out is None else Path(out)
        return Run(_invitro.train(self._inner, path, device, force, teller(progress, quiet)))


class Run:
    """A run's folder, done or not. Tables are of pandas, or with `frame="polars"` of polars, or of Arrow."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not (self.path / "config.toml").is_file():
            raise _invitro.Error(f"there is no run in `{self.path}`: it has no config.toml")

    def __repr__(self) -> str:
        status = self.status
        return f"Run({str(self.path)!r}, {status.get('state', 'not begun')}, step {status.get('step', 0)})"

    def _repr_html_(self) -> str:
        status = self.status
        rows = [("folder", self.path), ("state", status.get("state", "not begun")), ("step", status.get("step", 0))]
        return _html.table("Run", [*rows, *((key, status[key]) for key in ("device", "error") if status.get(key))])

    @cached_property
    def experiment(self) -> Experiment:
        """What it is a run of."""
        return Experiment.open(self.path)

    @property
    def status(self) -> dict[str, Any]:
        """`status.json`: its state, its step, its device."""
        found = _invitro.status(self.path)
        status: dict[str, Any] = json.loads(found) if found else {}
        return status

    @property
    def done(self) -> bool:
        """Whether it is finished."""
        return bool(self.status.get("state") == "done")

    @property
    def summary(self) -> dict[str, Any]:
        """Its row of `runs.parquet`, once it is done."""
        self._have("summary.json", "a run that is not done has no summary")
        summary: dict[str, Any] = json.loads((self.path / "summary.json").read_text(encoding="utf-8"))
        return summary

    @overload
    def metrics(self, frame: Literal["pandas"] = ...) -> pandas.DataFrame: ...
    @overload
    def metrics(self, frame: Literal["polars"]) -> polars.DataFrame: ...
    @overload
    def metrics(self, frame: Literal["arrow"]) -> pyarrow.Table: ...
    @overload
    def metrics(self, frame: Frame) -> Table: ...
    def metrics(self, frame: Frame = "pandas") -> Table:
        """Every evaluation so far: a row per step, condition and measure."""
        return _tables.of_arrow(self._log("metrics"), frame)

    @overload
    def training(self, frame: Literal["pandas"] = ...) -> pandas.DataFrame: ...
    @overload
    def training(self, frame: Literal["polars"]) -> polars.DataFrame: ...
    @overload
    def training(self, frame: Literal["arrow"]) -> pyarrow.Table: ...
    @overload
    def training(self, frame: Frame) -> Table: ...
    def training(self, frame: Frame = "pandas") -> Table:
        """The training so far: a row per step."""
        return _tables.of_arrow(self._log("training"), frame)

    @overload
    def words(self, frame: Literal["pandas"] = ...) -> pandas.DataFrame: ...
    @overload
    def words(self, frame: Literal["polars"]) -> polars.DataFrame: ...
    @overload
    def words(self, frame: Literal["arrow"]) -> pyarrow.Table: ...
    @overload
    def words(self, frame: Frame) -> Table: ...
    def words(self, frame: Frame = "pandas") -> Table:
        """The masked words, once it is done."""
        self._have("words.parquet", "a run that is not done has no table of words")
        return _tables.of_arrow(_tables.read(self.path / "words.parquet"), frame)

    @overload
    def samples(self, frame: Literal["pandas"] = ...) -> pandas.DataFrame: ...
    @overload
    def samples(self, frame: Literal["polars"]) -> polars.DataFrame: ...
    @overload
    def samples(self, frame: Literal["arrow"]) -> pyarrow.Table: ...
    @overload
    def samples(self, frame: Frame) -> Table: ...
    def samples(self, frame: Frame = "pandas") -> Table:
        """Decoded sentences with what was found of them."""
        return _tables.of_arrow(self._lines("samples.jsonl"), frame)

    def _log(self, name: str) -> Any:
        table = self.path / f"{name}.parquet"
        return _tables.read(table) if table.is_file() else self._lines(f"{name}.jsonl")

    def _lines(self, name: str) -> Any:
        self._have(name, "it has not begun")
        return _tables.lines(self.path / name)

    def _have(self, name: str, why: str) -> None:
        if not (self.path / name).is_file():
            raise _invitro.Error(f"there is no {name} in `{self.path}`: {why}")
        _invitro.check_file(self.path, name)

    def export(
        self, out: str | os.PathLike[str], step: int | None = None, *, license: str | None = None
    ) -> Path:
        """Writes the model of a step, or of the last, as a new folder that `transformers` loads.

        Its `README.md` is a model card: the experiment, the measures, what to cite, and the licence that you name.
        """
        _invitro.export(self.path, Path(out), step, license)
        return Path(out)

    def model(self, step: int | None = None) -> Any:
        """The model of a step, or of the last, as an object of `transformers`, in evaluation mode."""
        auto = needed("transformers", "the model as an object").AutoModelForCausalLM
        with tempfile.TemporaryDirectory() as folder:
            return auto.from_pretrained(self.export(Path(folder) / "model", step)).eval()

    def hidden(
        self,
        sentences: Iterable[str],
        language: str | None = None,
        layers: Sequence[int] | None = None,
        *,
        positions: Literal["all", "last"] = "all",
        task: str = "T0",
        source: str | None = None,
        step: int | None = None,
        device: str = "cpu",
    ) -> Hidden:
        """The residual stream at every token of sentences, or at the last of each, as `invitro hidden` writes it.

        All layers unless some are given: 0 is the embedding, l the residual stream after the l-th layer, without the final
        norm. The language is the first that has masked words unless given. Needs no other package.
        """
        given = {"language": language, "task": task, "from": source, "step": step, "device": device}
        return _inside.hidden(self.path, sentences, layers, positions, **given)

    def patch(
        self,
        word: str | None = None,
        *,
        language: str | None = None,
        donor: str | None = None,
        subject: str | None = None,
        donor_subject: str | None = None,
        against: str | None = None,
        logprob: bool = False,
        step: int | None = None,
        device: str = "cpu",
    ) -> Patching:
        """What a word loses or gains where hidden states are replaced by a donor's, as `invitro patch` prints it.

        The receiver is `<T0:B> subject copula`, the donor the same in another language; words and subjects are named by a word
        of either language, or as in `lexicon.tsv`: `noun.0.3`. The value is the contrast with a subject that Γ forbids the
        word, `against`, or the log-probability after the subject alone. What is not given is chosen: a masked word.
        """
        given = {"language": language, "donor": donor, "subject": subject, "donor_subject": donor_subject}
        return _inside.patch(self.path, word, logprob, **given, against=against, step=step, device=device)

    def hidden_states(
        self, sentences: Iterable[str], language: str, *, step: int | None = None
    ) -> list[NDArray[np.float32]]:
        """Of every sentence an array, layers by tokens by width, as `transformers` computes them; `hidden` needs neither.

        Layer 0 is the embedding, the last has the final norm behind it. The tokens are those of
        `experiment.encode(f"<T0:{language}> {sentence}", language)`. Needs `torch` and `transformers`.
        """
        if isinstance(sentences, str):
            raise _invitro.Error("hidden_states takes a list of sentences: put the one into a list")
        torch = needed("torch", "hidden states")
        opening = "<T0>" if self.experiment.settings["mixture.tags"] == "task" else f"<T0:{language}>"
        rows = [self.experiment.encode(f"{opening} {sentence}", language) for sentence in sentences]
        model = self.model(step)
        states = []
        with torch.inference_mode():
            for row in rows:
                out = model(torch.tensor([row]), output_hidden_states=True)
                states.append(torch.cat(out.hidden_states).float().numpy())
        return states


def _whole(number: int, what: str) -> int:
    if number < 0:
        raise _invitro.Error(f"{what} {number}: it must be 0 or more")
    return number


def _same(experiment: Experiment, id: str | None) -> Experiment:
    if id not in (None, experiment.id):
        raise _invitro.Error("the files that the experiment names are no longer what they were")
    return experiment


def _loaded(preset: str | None, path: Path | None, overrides: list[str], id: str) -> Experiment:
    """An experiment in another process."""
    experiment = Experiment.__new__(Experiment)
    experiment._from = (preset, path, overrides)
    experiment._inner = _invitro.Experiment(preset, path, overrides)
    return _same(experiment, id)


def _opened(folder: Path, id: str | None) -> Experiment:
    experiment = Experiment.__new__(Experiment)
    experiment._from = (folder,)
    experiment._inner = _invitro.Experiment.open(folder)
    return _same(experiment, id)
