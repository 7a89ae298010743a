"""Writes reference.safetensors: a small Llama-shaped model in PyTorch, f64, padded batches with a mask, autograd.

Shares no code with invitro; it is what the engine's logits, loss and gradients are compared with.
Run again only if the shape below changes:  python3 make_reference.py
"""

import os

import torch
from safetensors.torch import save_file

LAYERS, WIDTH, HEADS, HIDDEN, VOCAB, THETA, EPS = 2, 24, 3, 28, 19, 500.0, 1e-5
HEAD = WIDTH // HEADS
LENGTHS = [7, 1, 12, 4]  # rows; each sequence has one token more

torch.manual_seed(20240229)
torch.set_default_dtype(torch.float64)


def matrix(rows, columns):
    return (torch.randn(rows, columns) * 0.15).requires_grad_()


def gain():
    return (1 + 0.2 * torch.randn(WIDTH)).requires_grad_()


weights = {"model.embed_tokens.weight": matrix(VOCAB, WIDTH)}
for layer in range(LAYERS):
    name = f"model.layers.{layer}."
    weights[name + "input_layernorm.weight"] = gain()
    for part in "qkvo":
        weights[name + f"self_attn.{part}_proj.weight"] = matrix(WIDTH, WIDTH)
    weights[name + "post_attention_layernorm.weight"] = gain()
    weights[name + "mlp.gate_proj.weight"] = matrix(HIDDEN, WIDTH)
    weights[name + "mlp.up_proj.weight"] = matrix(HIDDEN, WIDTH)
    weights[name + "mlp.down_proj.weight"] = matrix(WIDTH, HIDDEN)
weights["model.norm.weight"] = gain()
weights["lm_head.weight"] = matrix(VOCAB, WIDTH)
# f32 values, so that the engine starts from exactly these.
for weight in weights.values():
    weight.data = weight.data.float().double()

longest = max(LENGTHS)
tokens = torch.randint(0, VOCAB, (len(LENGTHS), longest + 1))
inside = torch.arange(longest)[None] < torch.tensor(LENGTHS)[:, None]


def norm(x, gain):
    return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + EPS) * gain


def rotate(x):
    """x: [batch, heads, rows, head]; element i turns with element i + head / 2."""
    frequency = THETA ** (-torch.arange(0, HEAD, 2) / HEAD)
    angle = torch.arange(longest)[:, None] * frequency[None]
    angle = torch.cat([angle, angle], -1)
    first, second = x[..., : HEAD // 2], x[..., HEAD // 2 :]
    return x * angle.cos() + torch.cat([-second, first], -1) * angle.sin()


def heads(x):
    return x.view(len(LENGTHS), longest, HEADS, HEAD).transpose(1, 2)


def forward():
    x = weights["model.embed_tokens.weight"][tokens[:, :-1]]
    causal = torch.ones(longest, longest, dtype=torch.bool).tril()
    seen = causal[None, None] & inside[:, None, None, :]
    for layer in range(LAYERS):
        at = lambda part: weights[f"model.layers.{layer}.{part}.weight"]
        h = norm(x, at("input_layernorm"))
        q, k, v = (heads(h @ at(f"self_attn.{part}_proj").T) for part in "qkv")
        scores = rotate(q) @ rotate(k).transpose(-1, -2) / HEAD**0.5
        mixed = torch.softmax(scores.masked_fill(~seen, -1e30), -1) @ v
        x = x + mixed.transpose(1, 2).reshape(x.shape) @ at("self_attn.o_proj").T
        h = norm(x, at("post_attention_layernorm"))
        h = torch.nn.functional.silu(h @ at("mlp.gate_proj").T) * (h @ at("mlp.up_proj").T)
        x = x + h @ at("mlp.down_proj").T
    return norm(x, weights["model.norm.weight"]) @ weights["lm_head.weight"].T


logits = forward()
losses = torch.nn.functional.cross_entropy(logits[inside], tokens[:, 1:][inside], reduction="none")
losses.mean().backward()

out = {f"weight.{name}": weight.detach().float() for name, weight in weights.items()}
out |= {f"gradient.{name}": weight.grad for name, weight in weights.items()}
out |= {
    "logits": logits[inside].detach(),
    "losses": losses.detach(),
    "tokens": tokens.int(),
    "lengths": torch.tensor(LENGTHS, dtype=torch.int32),
    "sizes": torch.tensor([LAYERS, WIDTH, HEADS, HIDDEN, VOCAB], dtype=torch.int32),
}
here = os.path.dirname(os.path.abspath(__file__))
save_file({name: tensor.contiguous() for name, tensor in out.items()}, os.path.join(here, "reference.safetensors"))
