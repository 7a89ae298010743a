"""What languages are made of, and what is found of their sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import _html


@dataclass(frozen=True)
class Language:
    """A language of an experiment."""

    name: str
    alphabet: str
    """The letters of its words, names aside."""
    share: float
    """Its part of the training rows, before what is withheld is drawn again."""
    distances: Mapping[str, float]
    """To every other language: of stems, relative to unrelated ones."""
    masked: frozenset[str]
    """Symbols whose words training never shows."""
    words: Mapping[str, str]
    """Every symbol's word."""

    def __repr__(self) -> str:
        return f"Language({self.name!r}, {len(self.words)} words, {len(self.masked)} masked)"

    def _repr_html_(self) -> str:
        rows = [(symbol, word, "masked" if symbol in self.masked else "") for symbol, word in self.words.items()]
        return _html.table(f"Language {self.name}", rows[: _html.MOST], ("symbol", "word", ""), len(rows))


@dataclass(frozen=True)
class Sentence:
    """A row of a corpus: a task, what is given, and the sentence that is meant."""

    text: str
    """All of it, special tokens included."""
    language: str
    task: str
    symbols: tuple[str, ...]
    """One for each word of the text; special tokens stand for themselves."""
    masked: bool
    """Whether training may not show it: it has a masked word, or states a withheld fact."""

    @property
    def words(self) -> str:
        """The sentence that is meant, without special tokens and what is given."""
        inner = self.text.split()[1:-1]
        return " ".join(inner[inner.index("<out>") + 1 :] if "<out>" in inner else inner)


@dataclass(frozen=True)
class Tally:
    """How many constraints of a kind hold, of how many."""

    held: int
    of: int


@dataclass(frozen=True)
class Failure:
    """The first thing that is wrong with a sentence; positions count words from 0."""

    kind: str
    at: int | None = None
    subject: int | None = None
    object: int | None = None


@dataclass(frozen=True)
class Verdict:
    """What `invitro check --json` says of a sentence. Every check is nested in the one before."""

    text: str
    valid: bool
    """Every word is a word of the language."""
    grammatical: bool
    types: bool
    facts: bool
    relation: Tally
    descriptor: Tally
    adjective: Tally
    adverb: Tally
    gamma: Tally
    words: int
    unknown: tuple[int, ...]
    failure: Failure | None
    symbols: tuple[str | None, ...]
    reason: str | None

    @property
    def ok(self) -> bool:
        """Whether it is a true sentence of the language."""
        return self.facts

    def _repr_html_(self) -> str:
        levels = [(name, "✓" if getattr(self, name) else "✗") for name in ("valid", "grammatical", "types", "facts")]
        return _html.table(self.text, [*levels, *([("reason", self.reason)] if self.reason else [])])


def language(of: dict[str, Any]) -> Language:
    return Language(**{**of, "masked": frozenset(of["masked"]), "words": dict(of["words"])})


def sentence(of: dict[str, Any]) -> Sentence:
    return Sentence(**{**of, "symbols": tuple(of["symbols"])})


def verdict(of: dict[str, Any]) -> Verdict:
    tallies = {key: Tally(**of[key]) for key in ("relation", "descriptor", "adjective", "adverb", "gamma")}
    failure = Failure(**of["failure"]) if of["failure"] else None
    lists = {"unknown": tuple(of["unknown"]), "symbols": tuple(of["symbols"])}
    return Verdict(**{**of, **tallies, **lists, "failure": failure})
