"""Hidden states of a run's model, and what replacing them does."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ._invitro import Error
from ._process import json_lines, one_line, options, run_command


@dataclass(frozen=True)
class Hidden:
    """The residual stream while a model reads sentences, all of them end to end: see `sentences`."""

    states: NDArray[np.float32]
    """Tokens by layers by width."""
    tokens: NDArray[np.int64]
    """The token of every row of `states`; the first of a sentence is that of the task."""
    offsets: NDArray[np.int64]
    """Sentence i has the rows `offsets[i]:offsets[i + 1]`."""
    layers: tuple[int, ...]
    """0 is the embedding, l the residual stream after the l-th layer, without the final norm."""
    pieces: tuple[str, ...]
    """The text of every token, by id."""
    step: int

    def __repr__(self) -> str:
        tokens, layers, width = self.states.shape
        sentences = len(self.offsets) - 1
        return f"Hidden({sentences=}, {tokens=}, {layers=}, {width=}, step={self.step})"

    def sentences(self) -> list[NDArray[np.float32]]:
        """The states of each sentence by itself: tokens by layers by width."""
        return np.split(self.states, self.offsets[1:-1])


@dataclass(frozen=True)
class PatchedForm:
    """What patches do to a word in one language's form, in nats."""

    language: str
    form: str
    unpatched: float
    """After the receiver's prompts as they are."""
    in_donor: float
    """After the donor's prompts."""
    effects: NDArray[np.float64]
    """Patched minus unpatched, layers by positions; layer 0 is the embedding."""


@dataclass(frozen=True)
class PatchPosition:
    """A place that the receiver's prompt and the donor's both have."""

    role: str
    """`tag`, `subject` and `copula` are their last pieces, `subject_boundary` and `copula_boundary` the tokens behind them."""
    piece: str
    """The receiver's piece there."""
    at: int
    """Its position in the receiver's prompt."""
    donor_at: int


@dataclass(frozen=True)
class Patching:
    """One question to a model, with the residual stream replaced by a donor's at one layer and position at a time."""

    receiver: str
    donor: str
    subject: str
    donor_subject: str
    against: str | None
    """The contrast's second subject; none where the log-probability is read."""
    word: str
    positions: tuple[PatchPosition, ...]
    forms: tuple[PatchedForm, ...]
    """The word in the receiver's form and, where the donor is of another language, in the donor's."""
    step: int

    def __repr__(self) -> str:
        return f"Patching({self.word} after {self.subject}, {self.receiver} from {self.donor}, step {self.step})"


def hidden(
    folder: Path,
    sentences: Iterable[str],
    layers: Sequence[int] | None,
    positions: Literal["all", "last"],
    **given: object,
) -> Hidden:
    if isinstance(sentences, str):
        raise Error("hidden takes a list of sentences: put the one into a list")
    lines = [one_line(sentence) for sentence in sentences]
    # The command leaves empty lines out: states would not be those of their sentences.
    if any(not line.strip() for line in lines):
        raise Error("hidden takes sentences with at least one word: one is empty")
    if layers is not None and not layers:
        raise Error("layers is empty: name some, or none for all")
    chosen = None if layers is None else ",".join(map(str, layers))
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "states.safetensors"
        args = ["hidden", str(folder), "-", *options(out=out, layers=chosen, positions=positions, **given)]
        run_command(args, "".join(line + "\n" for line in lines))
        return _read(out.read_bytes())


def _read(file: bytes) -> Hidden:
    """A file of safetensors: the length of its header, the header, the numbers."""
    start = 8 + int.from_bytes(file[:8], "little")
    header = json.loads(file[8:start])

    def tensor(name: str, dtype: str) -> NDArray[Any]:
        begin, end = header[name]["data_offsets"]
        # Of a bytearray, so that it can be written to.
        return np.frombuffer(bytearray(file[start + begin : start + end]), dtype).reshape(tuple(header[name]["shape"]))

    metadata = header["__metadata__"]
    return Hidden(
        states=tensor("states", "<f4"),
        tokens=tensor("tokens", "<i8"),
        offsets=tensor("offsets", "<i8"),
        layers=tuple(json.loads(metadata["layers"])),
        pieces=tuple(json.loads(metadata["pieces"])),
        step=int(metadata["step"]),
    )


def patch(folder: Path, word: str | None, logprob: bool, **given: object) -> Patching:
    words = [] if word is None else ["--", word]
    args = ["patch", str(folder), "--json", *options(**given), *(["--logprob"] if logprob else []), *words]
    (found,) = json_lines(args, "")
    forms = tuple(PatchedForm(**{**form, "effects": np.array(form["effects"])}) for form in found["forms"])
    positions = tuple(PatchPosition(**position) for position in found["positions"])
    names = ("receiver", "donor", "subject", "donor_subject", "against", "word", "step")
    return Patching(**{name: found[name] for name in names}, positions=positions, forms=forms)
