"""The process in which files are read: little memory, little time, no secrets, and nobody misses it when it dies.

Jobs come in and answers go out as lines of JSON, so that whatever takes this process over cannot make the server run
anything, as unpickling its answers could.
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
_SPARE_S = 5.0  # after the deadline, should the server be gone that would end this process


def main() -> None:
    """Take jobs from standard input until it is closed or silent for so many seconds."""
    jobs, answers = _private_streams()
    idle_s = float(sys.argv[1])
    _cap(resource.RLIMIT_CORE, 0)
    _cap(resource.RLIMIT_FSIZE, 0)
    while select.select([jobs], [], [], idle_s)[0] and (line := jobs.readline()):
        answer = _answer(json.loads(line), answers)
        _write(answers, answer)
        if answer.get("reason") == "memory":
            return  # whatever is left of the heap is not to be trusted


def _private_streams() -> tuple[BinaryIO, BinaryIO]:
    """Keep the pipes for us alone: what a library prints must not look like an answer."""
    jobs, answers = os.fdopen(os.dup(0), "rb", buffering=0), os.fdopen(os.dup(1), "wb", buffering=0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    return jobs, answers


def _answer(job: dict[str, Any], answers: BinaryIO) -> dict[str, Any]:
    _write(answers, {"progress": 0.0})  # the job is taken: should this process die now, the file is to blame
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
    """Allow this job so much memory, processor time and time; the kernel ends the process that takes more."""
    _cap(resource.RLIMIT_AS, job["memory_bytes"])
    used = resource.getrusage(resource.RUSAGE_SELF)
    _cap(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime + job["cpu_s"]) + 1)
    signal.setitimer(signal.ITIMER_REAL, job["timeout_s"] + _SPARE_S)


def _cap(what: int, most: int) -> None:
    with contextlib.suppress(ValueError, OSError):  # a kernel without this limit
        resource.setrlimit(what, (most, resource.getrlimit(what)[1]))


def _write(answers: BinaryIO, message: dict[str, Any]) -> None:
    left = memoryview(json.dumps(message).encode() + b"\n")
    while left:
        left = left[answers.write(left) :]


if __name__ == "__main__":
    main()
