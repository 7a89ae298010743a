"""The tables of a study that ships with invitro."""

import json
from pathlib import Path
from typing import Any

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


def test_settings_have_their_kinds() -> None:
    pytest.importorskip("pandas")
    runs = invitro.Study(ROOT / "results/crossing").runs()
    assert runs["tokenizer.sees_masked"].dtype == bool and not runs["tokenizer.sees_masked"].any()
    assert list(runs["mixture.tasks"][0]) == [0.2, 0.4, 0.4]
    assert list(runs["mixture.schedule"][0]) == []
    assert runs["language.grammar"][0] == "svo"


def test_tables_with_settings_in_their_kinds_are_read_alike(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns: dict[str, list[Any]] = {"run": ["a", "b"], "mixture.tasks": [[0.2, 0.4, 0.4], None], "eval.forms": [True, None]}
    for name, text in [("new", False), ("old", True)]:
        table = {key: [v and json.dumps(v) if text and "." in key else v for v in values] for key, values in columns.items()}
        (tmp_path / name).mkdir()
        parquet.write_table(arrow.table(table), tmp_path / name / "runs.parquet")
    new, old = (invitro.Study(tmp_path / name).runs("arrow") for name in ("new", "old"))
    assert new.to_pydict() == old.to_pydict() == columns and new.schema == old.schema


def test_settings_are_joined() -> None:
    pytest.importorskip("pandas")
    study = invitro.Study(ROOT / "results/crossing")
    runs, plain = study.runs().set_index("run"), study.words()
    words = study.words(settings=True)
    assert list(words.columns[: len(plain.columns)]) == list(plain.columns) and len(words) == len(plain)
    assert {"tokenizer.vocab", "language.distance", "seeds.data"} <= set(words.columns)
    assert "train.steps" not in words.columns
    for at in (0, len(words) // 2, len(words) - 1):
        row = words.iloc[at]
        assert row["tokenizer.vocab"] == runs.loc[row["run"], "tokenizer.vocab"]
    chosen = study.metrics("polars", settings=["language.distance"], underscores=True)
    assert chosen.columns[-1] == "language__distance" and chosen["language__distance"].null_count() == 0
    assert not any("." in name for name in study.runs(underscores=True).columns)
    with pytest.raises(invitro.Error, match="there is no setting language.nonsense"):
        study.metrics(settings=["language.nonsense"])
    with pytest.raises(invitro.Error, match="put the one into a list"):
        study.metrics(settings="language.distance")


def test_objects_fit_a_cell() -> None:
    shown = invitro.Study(ROOT / "results/crossing")._repr_html_()
    assert "runs, metrics, words" in shown
