"""A separate terminal for a program that draws on one: read until a condition is true, then ended."""

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
# Queries of a program before it draws: the cursor's position, and the terminal's type.
_ANSWERS = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?1;2c"}


def run(
    command: Sequence[str], folder: Path, variables: Mapping[str, str], is_done: Callable[[str], bool], within_s: float
) -> tuple[int, str]:
    """Run a program on a terminal until ``is_done`` is true for its output.

    Returns:
        Code and output; the code is 0, or -1 if the program ended or the time was over before ``is_done``.
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
            os.killpg(running.pid, signal.SIGTERM)  # the program leads its own session
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
    except OSError:  # the program has ended
        return b""
    for asked, answer in _ANSWERS.items():
        if asked in piece:
            os.write(master, answer)
    return piece
