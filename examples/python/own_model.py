"""A model that is not a neural network, measured as invitro measures its own: bigrams of the training rows.

    python own_model.py [STEPS]
"""

import sys
from collections.abc import Sequence

import invitro
import numpy as np


class Bigrams:
    """How likely a token is after the one before it, by counting, with one of each added."""

    def __init__(self, experiment: invitro.Experiment, steps: int) -> None:
        counts = np.ones((experiment.vocab, experiment.vocab))
        for step in range(1, steps + 1):
            for row in experiment.batch(step).rows():
                np.add.at(counts, (row[:-1], row[1:]), 1)
        self.logprobs = np.log(counts / counts.sum(axis=1, keepdims=True))

    def score(self, prompts: Sequence[Sequence[int]], continuations: Sequence[Sequence[int]]) -> list[list[float]]:
        """The log-probability of every token of each continuation."""
        pairs = zip(prompts, continuations)
        return [[float(self.logprobs[a, b]) for a, b in zip([prompt[-1], *more], more)] for prompt, more in pairs]


def main(steps: int) -> None:
    experiment = invitro.Experiment("quick")
    evaluation = experiment.evaluate(Bigrams(experiment, steps))
    for condition in ("A", "B", "B_masked"):
        bits = evaluation.value(condition, "loss", "bits_per_char")
        floor = evaluation.value(condition, "loss", "floor")
        print(f"{condition:9} {bits:.2f} bits per character; the process itself has {floor:.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
