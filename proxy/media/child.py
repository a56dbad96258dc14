"""Child process that reads files, with limited memory and time and without secrets; the server survives its crash.

Jobs and answers are lines of JSON, so that a compromised child cannot make the server execute code, as unpickling
could.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import select
import signal
import sys
from typing import Any, BinaryIO

from proxy.media.base import MediaRefused

_JOBS = {
    "document": ("proxy.media.document", "run_document"),
    "image": ("proxy.media.image", "run_image"),
    "ocr_image": ("proxy.media.ocr", "run_image"),
    "ocr_part": ("proxy.media.ocr", "run_part"),
    "ocr_page": ("proxy.media.ocr", "run_page"),
}
_SPARE_S = 5.0  # after the deadline, in case the server that would kill this process is gone


def main() -> None:
    """Process jobs from standard input until it is closed, or idle for the seconds in the first argument."""
    jobs, answers = _private_streams()
    idle_s = float(sys.argv[1])
    _cap(resource.RLIMIT_CORE, 0)
    _cap(resource.RLIMIT_FSIZE, 0)
    while select.select([jobs], [], [], idle_s)[0] and (line := jobs.readline()):
        answer = _answer(json.loads(line), answers)
        _write(answers, answer)
        if answer.get("reason") == "memory":
            return  # the heap may be corrupt


def _private_streams() -> tuple[BinaryIO, BinaryIO]:
    """Return private pipes for jobs and answers, so that a library's output cannot look like an answer."""
    jobs, answers = os.fdopen(os.dup(0), "rb", buffering=0), os.fdopen(os.dup(1), "wb", buffering=0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    return jobs, answers


def _answer(job: dict[str, Any], answers: BinaryIO) -> dict[str, Any]:
    _write(answers, {"progress": 0.0})  # the job is accepted: if this process dies now, the file is the cause
    _limit(job)
    module, function = _JOBS[job["job"]]
    try:
        run = getattr(importlib.import_module(module), function)
        return {"result": run(job, lambda share: _write(answers, {"progress": share}))}
    except MediaRefused as refused:
        return {"refused": str(refused), "reason": refused.reason}
    except MemoryError:
        return {
            "refused": "Reading the file takes more memory than allowed (media.limits).",
            "reason": "memory",
        }
    except Exception as error:  # noqa: BLE001 -- parsers raise anything on broken input; the server names it in its log
        return {
            "refused": "The file is damaged and cannot be read.",
            "reason": "malformed",
            "error": type(error).__name__,
        }
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _limit(job: dict[str, Any]) -> None:
    """Set the job's limits of memory, CPU time and time; the kernel ends the process beyond them."""
    _cap(resource.RLIMIT_AS, job["memory_bytes"])
    used = resource.getrusage(resource.RUSAGE_SELF)
    _cap(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime + job["cpu_s"]) + 1)
    signal.setitimer(signal.ITIMER_REAL, job["timeout_s"] + _SPARE_S)


def _cap(what: int, most: int) -> None:
    with contextlib.suppress(ValueError, OSError):  # the kernel lacks this limit
        resource.setrlimit(what, (most, resource.getrlimit(what)[1]))


def _write(answers: BinaryIO, message: dict[str, Any]) -> None:
    left = memoryview(json.dumps(message).encode() + b"\n")
    while left:
        left = left[answers.write(left) :]


if __name__ == "__main__":
    main()
