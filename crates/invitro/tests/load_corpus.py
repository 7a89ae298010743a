"""Loads x.parquet of a folder with pandas, Polars and HuggingFace datasets, and compares it with x.jsonl; loads the folder
of splits in it by its data card, and compares each with the split's .jsonl."""

import json
import sys
from pathlib import Path

folder = Path(sys.argv[1])
file = str(folder / "x.parquet")
rows = [json.loads(line) for line in (folder / "x.jsonl").open()]
columns = ["text", "language", "task", "symbols", "masked"]


def check(loaded, rows=rows):
    assert len(loaded) == len(rows), (len(loaded), len(rows))
    for found, wanted in zip(loaded, rows):
        found = dict(found, symbols=list(found["symbols"]), masked=bool(found["masked"]))
        assert found == wanted, (found, wanted)


import pandas

frame = pandas.read_parquet(file)
assert list(frame.columns) == columns, frame.columns
check(frame.to_dict("records"))

import polars

frame = polars.read_parquet(file)
assert frame.schema["symbols"] == polars.List(polars.String), frame.schema
check(frame.to_dicts())

import datasets

datasets.disable_progress_bars()
loaded = datasets.load_dataset("parquet", data_files=file, split="train", cache_dir=str(folder / "cache"))
assert loaded.column_names == columns, loaded.column_names
check(loaded)

splits = datasets.load_dataset(str(folder / "folder"), cache_dir=str(folder / "cache"))
assert list(splits) == ["train", "A", "B_masked"], splits
for name, loaded in splits.items():
    check(loaded, [json.loads(line) for line in (folder / f"{name}.jsonl").open()])

print("pandas polars datasets folder")
