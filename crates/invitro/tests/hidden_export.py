"""Compares a file of `invitro hidden` with the hidden states of an exported model in transformers.

Arguments: the export, the file of states, and the sentences of B that it is of.
"""

import json
import sys

import torch
from safetensors import safe_open
from transformers import AutoModelForCausalLM, AutoTokenizer

folder, file, lines = sys.argv[1:]
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
tokenizer = AutoTokenizer.from_pretrained(f"{folder}/tokenizer-B")
with safe_open(file, "pt") as opened:
    ours = {name: opened.get_tensor(name) for name in opened.keys()}
    layers = json.loads(opened.metadata()["layers"])
assert layers == list(range(model.config.num_hidden_layers + 1)), layers
sentences = open(lines).read().splitlines()
assert len(ours["offsets"]) == len(sentences) + 1 and len(sentences) >= 20
for sentence, start, end in zip(sentences, ours["offsets"][:-1], ours["offsets"][1:], strict=True):
    encoded = tokenizer(sentence, return_tensors="pt")
    assert encoded["input_ids"][0].tolist() == ours["tokens"][start:end].tolist(), sentence
    with torch.no_grad():
        theirs = list(model(**encoded, output_hidden_states=True).hidden_states)
        states = list(ours["states"][start:end].unbind(1))
        # Theirs has the final norm in the last one.
        states[-1] = model.model.norm(states[-1])
    for layer, (state, their) in enumerate(zip(states, theirs, strict=True)):
        off = (state - their[0]).abs().max().item()
        assert off < 1e-4, f"layer {layer}: {off}"
