"""The notebooks run to their end; a few steps of training are enough for that."""

from pathlib import Path

import pytest

from conftest import ROOT

NOTEBOOKS = ROOT / "examples/notebooks"


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    monkeypatch.setenv("INVITRO_STEPS", "60")
    monkeypatch.setenv("INVITRO_RESULTS", str(ROOT / "results"))
    monkeypatch.setenv("MPLBACKEND", "agg")
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
