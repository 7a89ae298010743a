"""Scores sentences with an exported model, with the default calls of transformers and, where they are installed, of minicons,
TransformerLens and lm-eval, and compares with `invitro score`. Prints the tools.

Arguments: the export, and a JSON file: per language a list of {"text", "logprob"}, the text without the token of its task.
"""

import importlib.util
import json
import os
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

folder, scores = sys.argv[1], json.load(open(sys.argv[2]))
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
tools = [tool for tool in ("minicons", "transformer_lens", "lm_eval") if importlib.util.find_spec(tool)]


def close(tool, found, wanted):
    off = max(abs(f - w) for f, w in zip(found, wanted, strict=True))
    assert off < 1e-3, f"{tool}: {off} nats off, {found[:3]} and {wanted[:3]}"


def log_probability(logits, ids):
    return logits[0, :-1].log_softmax(-1).gather(1, ids[0, 1:, None]).sum().item()


for language, rows in scores.items():
    place = f"{folder}/tokenizer-{language}"
    tokenizer = AutoTokenizer.from_pretrained(place)
    assert len(tokenizer) == model.config.vocab_size, (len(tokenizer), model.config.vocab_size)
    texts, wanted = [row["text"] for row in rows], [row["logprob"] for row in rows]
    encoded = [tokenizer(text, return_tensors="pt") for text in texts]
    with torch.no_grad():
        close("transformers", [log_probability(model(**e).logits, e["input_ids"]) for e in encoded], wanted)
    decoded = [tokenizer.decode(e["input_ids"][0], skip_special_tokens=True) for e in encoded]
    assert decoded == [text.removesuffix(" <eos>") for text in texts], decoded[:2]
    if "minicons" in tools:
        from minicons import scorer

        close("minicons", scorer.IncrementalLMScorer(model, "cpu", tokenizer=tokenizer).sequence_score(
            texts, reduction=lambda x: x.sum().item()), wanted)
    if "transformer_lens" in tools:
        from transformer_lens.model_bridge import TransformerBridge

        bridge = TransformerBridge.boot_transformers(folder, device="cpu", tokenizer=tokenizer)
        with torch.no_grad():
            close("TransformerLens", [log_probability(bridge(text), bridge.to_tokens(text)) for text in texts], wanted)
    if "lm_eval" in tools:
        from lm_eval.api.instance import Instance
        from lm_eval.models.huggingface import HFLM

        lm = HFLM(pretrained=folder, tokenizer=place, device="cpu", batch_size=1)
        bare = [Instance("loglikelihood", {}, ("", text), i) for i, text in enumerate(texts)]
        close("lm-eval", [score for score, _ in lm.loglikelihood(bare, disable_tqdm=True)], wanted)

print("transformers", *tools)
