"""Settings as Python has them, in the notation of the command line: `language.distance=0.5`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from pathlib import PurePath

from ._invitro import Error


def overrides(settings: Mapping[str, object]) -> list[str]:
    """`key=value` of every setting. Keys are dotted, or have two underscores for a dot; tables may be nested."""
    return [f"{key}={_notation(value, key)}" for key, value in _leaves(settings)]


def _leaves(settings: Mapping[str, object], above: str = "") -> list[tuple[str, object]]:
    leaves: list[tuple[str, object]] = []
    for name, value in settings.items():
        key = above + (name if "." in name else name.replace("__", "."))
        if isinstance(value, Mapping):
            leaves += _leaves(value, key + ".")
        else:
            leaves.append((key, value))
    return leaves


def _notation(value: object, key: str) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    if isinstance(value, (str, PurePath)):
        return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(k))} = {_notation(v, key)}" for k, v in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(_notation(one, key) for one in value) + "]"
    raise Error(f"`{key}` is {value!r}, but must be a number, a text, true or false, or a list of these")
