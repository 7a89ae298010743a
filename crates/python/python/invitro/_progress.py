"""What is told while a run trains or a model is evaluated."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Progress:
    """Something that happened in a training."""

    kind: Literal["note", "step", "evaluation"]
    step: int
    steps: int
    loss: float | None = None
    """Nats per token: of a step's batch, or of held-out sequences."""
    message: str = ""
    scores: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    """Of an evaluation, by condition: `grammatical`, `types`, `facts` (of T1), and `contrast` in nats."""

    def __str__(self) -> str:
        if self.kind == "note":
            return self.message
        loss = "" if self.loss is None else f", loss {self.loss:.3f}"
        shares = [f"{name} {of['grammatical']:.2f}" for name, of in self.scores.items() if of["grammatical"] is not None]
        grammatical = f", grammatical {' '.join(shares)}" if shares else ""
        return f"step {self.step}/{self.steps}{loss}{grammatical}"


def teller(progress: Callable[[Progress], object] | None, quiet: bool) -> Callable[[str], object]:
    """What the engine calls: a caller's own function, or lines on standard error."""
    if progress is not None:
        called = progress
        return lambda event: called(Progress(**json.loads(event)))
    return (lambda event: None) if quiet else _Lines()


def counter(
    progress: Callable[[Progress], object] | None, quiet: bool, step: int, steps: int
) -> Callable[[int], None]:
    """What is called with the sequences that a model has read, and tells of their sum every few seconds."""
    tell = progress or (lambda told: None if quiet else print(told, file=sys.stderr, flush=True))
    begun = last = time.monotonic()
    total = 0

    def count(sequences: int) -> None:
        nonlocal total, last
        total += sequences
        if time.monotonic() - last >= _Lines.EVERY:
            last = time.monotonic()
            message = f"evaluating: {total:,} sequences read in {last - begun:.0f} s"
            tell(Progress("note", step, steps, message=message))

    return count


class _Lines:
    EVERY = 5.0

    def __init__(self) -> None:
        self.last = time.monotonic()

    def __call__(self, event: str) -> None:
        happened = Progress(**json.loads(event))
        if happened.kind == "step" and time.monotonic() - self.last < self.EVERY:
            return
        self.last = time.monotonic()
        print(happened, file=sys.stderr, flush=True)
