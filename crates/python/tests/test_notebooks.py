"""The notebooks run to their end; a few steps of training are enough for that. They come with their outputs, and alone."""

import subprocess
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
    if any("transformer_lens" in cell.source for cell in notebook.cells):
        pytest.importorskip("transformer_lens")
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook_has_its_outputs_and_states_its_time(path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    cells = nbformat.read(path, as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1)), "run it from the top"
    assert sum(bool(cell.outputs) for cell in code) >= 3
    assert "minute" in cells[0].source or "seconds" in cells[0].source


def test_no_run_comes_with_the_notebooks() -> None:
    listed = subprocess.run(["git", "ls-files", NOTEBOOKS], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    assert all(name.endswith(".ipynb") for name in listed.stdout.split()), listed.stdout
