"""The command line: `invitro`, or `python -m invitro`."""

import signal
import sys
import sysconfig
from pathlib import Path

from . import _invitro


def main() -> int:
    """Runs the command that the program's arguments are, and returns its exit code."""
    # Ctrl-C ends a command, or has it save and stop, as it does without Python.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    installed = Path(sysconfig.get_path("scripts")) / "invitro"
    program = installed if installed.is_file() else Path(sys.argv[0]).absolute()
    return _invitro.command(program, sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
