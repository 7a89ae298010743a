"""Decoding through the key-value cache of a causal model of `transformers`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

NEEDED = {"attention_mask", "past_key_values", "position_ids", "use_cache"}
"""Parameters of a model that has such a cache."""
MOST_ENDED = 0.25
"""The share of a cache's rows that may have ended before they are removed from it."""


class KeyValueCache:
    """Rows that a model has read. Shorter prompts are filled up in front, so that all rows end at one place."""

    def __init__(self, model: Any, torch: Any, vocab: int, count: Callable[[int], None]) -> None:
        self.model, self.torch, self.vocab, self.count = model, torch, vocab, count
        self.device = next(model.parameters()).device
        self.works: bool | None = None
        parameters = inspect.signature(model.forward).parameters
        # The logits of prompts are needed after their last token alone.
        self.last_alone = {"logits_to_keep": 1} if "logits_to_keep" in parameters else {}

    @staticmethod
    def is_there(model: Any) -> bool:
        """Whether a model may have one."""
        parameters = inspect.signature(model.forward).parameters
        return parameters.keys() >= NEEDED and next(model.parameters(), None) is not None

    def prefill(self, prompts: list[list[int]]) -> bytes | None:
        """Reads prompts, and returns the logits after each; none if the model's cache is not to be relied upon."""
        with self.torch.inference_mode():
            if self.works is None:
                self.works = self._is_right(prompts)
            if not self.works:
                return None
            self.count(len(prompts))
            return self._bytes(self._prefill(prompts))

    def extend(self, rows: list[int], tokens: list[int]) -> bytes:
        """Keeps these rows, appends a token to each, and returns the logits after it."""
        with self.torch.inference_mode():
            return self._bytes(self._extend(rows, tokens))

    def _prefill(self, prompts: list[list[int]]) -> Any:
        width = max(map(len, prompts))
        filled = [[0] * (width - len(prompt)) + prompt for prompt in prompts]
        there = [[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts]
        self.mask = self.torch.tensor(there, device=self.device)
        positions = (self.mask.cumsum(1) - 1).clamp(min=0)
        # Where each row is in the cache.
        self.at = self.torch.arange(len(prompts), device=self.device)
        self.next = positions[:, -1:] + 1
        self.past: Any = None
        return self._read(self.torch.tensor(filled, device=self.device), positions, **self.last_alone)

    def _extend(self, rows: list[int], tokens: list[int]) -> Any:
        self.at = self.at[self.torch.tensor(rows, device=self.device)]
        if len(rows) < (1 - MOST_ENDED) * len(self.mask):
            self.past.batch_select_indices(self.at)
            self.mask, self.next = self.mask[self.at], self.next[self.at]
            self.at = self.torch.arange(len(rows), device=self.device)
        ids = self.torch.zeros_like(self.next)
        ids[self.at, 0] = self.torch.tensor(tokens, device=self.device)
        self.mask = self.torch.cat([self.mask, self.torch.ones_like(self.next)], dim=1)
        logits = self._read(ids, self.next)
        # Rows that have ended stay where they are: further on there may be no position.
        self.next = self.next.index_add(0, self.at, self.torch.ones_like(self.next[self.at]))
        return logits

    def _read(self, ids: Any, positions: Any, **more: Any) -> Any:
        out = self.model(
            input_ids=ids,
            attention_mask=self.mask,
            position_ids=positions,
            past_key_values=self.past,
            use_cache=True,
            **more,
        )
        self.past = out.past_key_values
        return out.logits[self.at, -1]

    def _is_right(self, prompts: list[list[int]]) -> bool:
        """Whether the logits of a short and a long prompt, and after more tokens, are those without a cache."""
        room = getattr(getattr(self.model, "config", None), "max_position_embeddings", None)
        prompts = [prompt for prompt in prompts if room is None or len(prompt) + 3 <= room]
        if not prompts:
            return False
        tried = [min(prompts, key=len), max(prompts, key=len)]
        try:
            right = self._agrees(self._prefill(tried), tried)
            for rows, tokens in ([0, 1], [2, 3]), ([0, 1], [4, 5]), ([1], [6]):
                tried = [[*tried[row], token] for row, token in zip(rows, tokens)]
                right = right and self._agrees(self._extend(rows, tokens), tried)
        except (AttributeError, IndexError, NotImplementedError, RuntimeError, TypeError, ValueError):
            return False
        return right

    def _agrees(self, logits: Any, rows: list[list[int]]) -> bool:
        expected = [self.model(input_ids=self.torch.tensor([row], device=self.device)).logits[0, -1] for row in rows]
        without: Any = self.torch.stack(expected).float()
        if logits.shape != without.shape or logits.shape[-1] != self.vocab:
            return False
        # Rounding in another order, and no more.
        allowed = 1e-3 if logits.dtype in (self.torch.float32, self.torch.float64) else 0.02
        return bool((logits.float() - without).abs().max() <= allowed * without.std())

    @staticmethod
    def _bytes(logits: Any) -> bytes:
        given: bytes = logits.float().cpu().numpy().astype("<f4").tobytes()
        return given
