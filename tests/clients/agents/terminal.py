"""A terminal of its own for a program that draws on one: read until something has happened, then ended."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

_ROWS, _COLUMNS = 50, 160
_PIECE_BYTES = 65_536
_LOOK_S = 0.1
_STOP_S = 10.0
# What a program asks of a terminal before it draws: where the cursor is, and which terminal it is.
_ANSWERS = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?1;2c"}


def run(
    command: Sequence[str], folder: Path, variables: Mapping[str, str], is_done: Callable[[str], bool], within_s: float
) -> tuple[int, str]:
    """Run a program on a terminal until ``is_done`` says so of what it wrote.

    Returns:
        0 and the output, -1 where it was not done in time or ended before.
    """
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    running = subprocess.Popen(
        list(command), cwd=folder, env=dict(variables), stdin=slave, stdout=slave, stderr=slave, start_new_session=True
    )
    os.close(slave)
    output, deadline, code = b"", time.monotonic() + within_s, -1
    try:
        while time.monotonic() < deadline:
            readable, _, _ = select.select([master], [], [], _LOOK_S)
            if readable:
                output += _read(master)
            if is_done(output.decode("utf-8", "replace")):
                code = 0
                break
            if running.poll() is not None:
                break
    finally:
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGTERM)  # its session is its own
        try:
            running.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()
        os.close(master)
    return code, output.decode("utf-8", "replace")


def _read(master: int) -> bytes:
    try:
        piece = os.read(master, _PIECE_BYTES)
    except OSError:  # the program is gone
        return b""
    for asked, answer in _ANSWERS.items():
        if asked in piece:
            os.write(master, answer)
    return piece
