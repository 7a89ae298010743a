"""Loads an exported folder with transformers; compares its logits with those in expected.json, and gradients with those in gradients/."""

import json
import sys

import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

folder = sys.argv[1]
model, info = AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True, dtype=torch.float32)
for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"):
    assert not info[kind], f"{kind}: {info[kind]}"
assert model.config.eos_token_id == 1 and model.generation_config.pad_token_id == 0

with open(f"{folder}/expected.json") as file:
    expected = json.load(file)
model.eval()
with torch.no_grad():
    logits = model(torch.tensor([expected["tokens"]])).logits[0]
off = (logits - torch.tensor(expected["logits"])).abs().max().item()
print(f"largest difference {off:.1e} over {logits.numel()} logits of size {logits.abs().max().item():.1f}")
assert logits.shape == torch.tensor(expected["logits"]).shape
assert off < 1e-4, off

prompt = torch.tensor([expected["tokens"][:5]])
# The mask is given because a prompt of this test may hold the pad token as any other.
greedy = model.generate(
    prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=len(expected["decoded"]), do_sample=False
)
assert greedy[0, 5:].tolist() == expected["decoded"], (greedy, expected["decoded"])

# The test's sequence may hold the pad token as any other.
model.get_input_embeddings().padding_idx = None
logits = model(torch.tensor([expected["tokens"]])).logits[0]
torch.nn.functional.cross_entropy(logits, torch.tensor(expected["targets"])).backward()
gradients = load_file(f"{folder}/gradients/model.safetensors")
parameters = dict(model.named_parameters())
assert gradients.keys() == parameters.keys(), gradients.keys() ^ parameters.keys()
for name, gradient in gradients.items():
    expected_gradient = parameters[name].grad
    off = (gradient - expected_gradient).abs().max() / expected_gradient.abs().max()
    assert off < 1e-3, (name, off)
