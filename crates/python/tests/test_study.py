"""The tables of a study that ships with invitro."""

import invitro
import pytest

from conftest import ROOT


@pytest.mark.parametrize("name", ["crossing", "sharing"])
def test_shipped_studies_are_read(name: str) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    study = invitro.Study(ROOT / "results" / name)
    runs = study.runs()
    assert len(runs) == len(study.runs("polars")) > 0 and runs["run"].is_unique
    assert set(study.metrics()["run"]) <= set(runs["run"])
    if name == "crossing":
        assert len(study.words())
