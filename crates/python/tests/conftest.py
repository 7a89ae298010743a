"""A world of a few dozen symbols, and a run in it that takes seconds."""

from pathlib import Path

import invitro
import pytest

ROOT = Path(__file__).parents[3]
TINY = ROOT / "crates/lab/tests/common/tiny.toml"


@pytest.fixture(scope="session")
def tiny() -> invitro.Experiment:
    return invitro.Experiment(config=TINY)


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> invitro.Run:
    experiment = invitro.Experiment(config=TINY, checkpoint__keep="all", train__steps=90)
    return experiment.run(tmp_path_factory.mktemp("runs") / "tiny", device="cpu", quiet=True)
