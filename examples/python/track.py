"""Send a run of invitro, or all runs of a collected study, to an experiment tracker.

    python track.py RUN print|wandb|trackio|mlflow|tensorboard [PROJECT]

It reads the tables, so it works on runs that train, on finished ones and on other people's; invitro itself opens no network.
PROJECT is the tracker's project, or the folder of TensorBoard's event files.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def runs(folder: Path) -> Iterator[tuple[str, dict[str, Any], pd.DataFrame]]:
    """Name, settings and metrics of a run's folder, or of every run of a study."""
    table, log = folder / "metrics.parquet", folder / "metrics.jsonl"
    metrics = pd.read_parquet(table) if table.exists() else pd.read_json(log, lines=True)
    if (folder / "runs.parquet").exists():
        settings = pd.read_parquet(folder / "runs.parquet").set_index("run")
        for run, rows in metrics.groupby("run"):
            config = {k: v for k, v in settings.loc[run].items() if k.startswith(CONFIG) and pd.notna(v)}
            yield str(run), config, rows
    else:
        config = pd.json_normalize(tomllib.loads((folder / "config.toml").read_text())).iloc[0].to_dict()
        yield str(metrics.run.iloc[0]), config, metrics


# How the columns of settings begin.
CONFIG = ("language.", "mixture.", "tokenizer.", "model.", "train.", "eval.", "seeds.")


def steps(rows: pd.DataFrame) -> Iterator[tuple[int, dict[str, float]]]:
    """Per step, every measure by a name such as `T1/B_masked.grammaticality`."""
    names = rows.task + "/" + rows.condition + "." + rows.metric
    for step, values in rows.assign(name=names).groupby("step"):
        yield int(step), dict(zip(values.name, values.value))


def main(folder: Path, tracker: str, project: str) -> None:
    for name, config, rows in runs(folder):
        if tracker == "print":
            print(name, len(config), "settings", [(step, len(values)) for step, values in steps(rows)])
        elif tracker in ("wandb", "trackio"):
            module = __import__(tracker)
            module.init(project=project, name=name, config=config)
            for step, values in steps(rows):
                module.log(values, step=step)
            module.finish()
        elif tracker == "mlflow":
            import mlflow

            mlflow.set_experiment(project)
            with mlflow.start_run(run_name=name):
                mlflow.log_params(config)
                for step, values in steps(rows):
                    # Names may not have every letter there.
                    mlflow.log_metrics({key.replace("@", " at ").replace(">", " to "): v for key, v in values.items()}, step=step)
        elif tracker == "tensorboard":
            from torch.utils.tensorboard import SummaryWriter

            with SummaryWriter(str(Path(project) / name)) as writer:
                for step, values in steps(rows):
                    for key, value in values.items():
                        writer.add_scalar(key, value, step)
        else:
            sys.exit(f"{tracker} is no tracker: print, wandb, trackio, mlflow or tensorboard")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "invitro")
