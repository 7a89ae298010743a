"""Load a run of invitro in Python: the exported model, its tokenizer, and the metrics.

    python load_run.py RUN EXPORTED [FIGURE]
"""

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def complete(model: Any, tokenizer: Any, prompt: str) -> str:
    """What the model makes of a prompt such as `<T1:B> some words <out>`, decoded greedily."""
    ids = tokenizer(prompt, return_tensors="pt", add_special_tokens=False).input_ids
    with torch.no_grad():
        out = model.generate(ids, do_sample=False, max_length=model.config.max_position_embeddings)
    return str(tokenizer.decode(out[0, ids.shape[1] :], skip_special_tokens=True))


def main(run: Path, exported: Path, figure: Path) -> None:
    model: Any = AutoModelForCausalLM.from_pretrained(exported)
    model.eval()
    tokenizer = AutoTokenizer.from_pretrained(exported)

    samples = [json.loads(line) for line in open(run / "samples.jsonl")]
    last = max(sample["step"] for sample in samples)
    for sample in samples:
        if sample["step"] == last and sample["task"] == "T1":
            lang = sample["condition"][0]
            again = complete(model, tokenizer, f"<T1:{lang}> {sample['prompt']} <out>")
            # A sentence that never ends is cut off somewhere, by invitro before the context is full.
            ours, theirs = "".join(sample["output"].split()), "".join(again.split())
            same = theirs.startswith(ours) if sample.get("failure") == "unfinished" else theirs == ours
            mark = "same as invitro" if same else "differs from invitro"
            print(f"{sample['condition']:9} {mark}: {again}")

    metrics = pd.read_parquet(run / "metrics.parquet")
    t1 = metrics[(metrics.task == "T1") & metrics.metric.isin(["validity", "grammaticality", "types", "facts"])]
    table = t1[t1.step == t1.step.max()].pivot(index="metric", columns="condition", values="value")
    print(table.round(2))

    fig, axes = plt.subplots(1, 3, figsize=(9, 2.6), sharey=True, layout="constrained")
    for ax, (condition, rows) in zip(axes, t1.groupby("condition")):
        for metric in ["validity", "grammaticality", "types", "facts"]:
            curve = rows[rows.metric == metric]
            ax.plot(curve.step, curve.value, label=metric)
        ax.set(title=condition.replace("_masked", "†"), xlabel="step", ylim=(0, 1))
    axes[0].legend(frameon=False)
    fig.savefig(figure, dpi=150)
    print(f"wrote {figure}")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3] if len(sys.argv) == 4 else "curves.png"))
