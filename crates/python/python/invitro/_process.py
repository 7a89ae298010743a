"""Runs `invitro` as a process of its own, and reads what it prints."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from typing import Any

from ._invitro import Error


def options(**given: object) -> list[str]:
    """`--name value` of each that is given. Joined by `=`, so that no value is taken for an option."""
    return [f"--{name.replace('_', '-')}={value}" for name, value in given.items() if value is not None]


def one_line(text: str) -> str:
    if any(mark in text for mark in "\t\n\r"):
        raise Error(f"{text!r} has a tab or a line break: a sentence is words with spaces between them")
    return text


def json_lines(args: list[str], text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run_command(args, text).splitlines()]


def run_command(args: list[str], text: str = "", *, shown: bool = False) -> str:
    """What the command prints. Its notes and progress go to standard error if `shown`; its error is raised."""
    # Safe: modules of the working folder are not taken for those that the command imports.
    command = [sys.executable, "-m", "invitro", *([] if shown else ["--quiet"]), *args]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONSAFEPATH": "1"},
    )
    said: list[str] = []
    stdin, stderr = process.stdin, process.stderr
    assert stdin is not None and stderr is not None and process.stdout is not None

    def listen() -> None:
        for line in stderr:
            said.append(line)
            if shown:
                print(line, end="", file=sys.stderr, flush=True)

    def tell() -> None:
        try:
            with stdin:
                stdin.write(text)
        except BrokenPipeError:
            pass  # It ended before it had read all: its error says why.

    threads = [threading.Thread(target=listen), threading.Thread(target=tell)]
    for thread in threads:
        thread.start()
    try:
        printed = process.stdout.read()
        code = process.wait()
    except BaseException:
        # As Ctrl-C on the terminal: what trains saves first.
        process.send_signal(signal.SIGINT)
        process.wait()
        raise
    finally:
        for thread in threads:
            thread.join()
        process.stdout.close()
        stderr.close()
    errors = [line.removeprefix("error: ") for line in said if code or line.startswith("error: ")]
    if code or errors:
        raise Error("".join(errors).strip() or f"`invitro {' '.join(args[:2])}` ended with exit code {code}")
    return printed
