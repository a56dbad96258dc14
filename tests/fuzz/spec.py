"""The published specification as a source of requests, through schemathesis."""

from __future__ import annotations

import re
import subprocess

from tests.conformance import tools
from tests.conformance.servers import SPEC

KEY = "sk-fuzz-spec"


def fuzz_spec(base_url: str, examples: int) -> tuple[int, str]:
    """Send valid and invalid requests generated from OpenAI's specification.

    Args:
        base_url: URL of the running server.
        examples: Maximum number of requests for each operation.

    Returns:
        Number of requests, and schemathesis' report if a response was a 5xx (else an empty text).
    """
    command = [str(tools.BIN / "schemathesis"), "run", str(SPEC), "--url", base_url, "--checks", "not_a_server_error",
               "--phases", "fuzzing", "--mode", "all", "--max-examples", str(examples), "--seed", "1",
               "--header", f"Authorization: Bearer {KEY}", "--continue-on-failure", "--no-color",
               "--suppress-health-check", "all", "--generation-database", "none"]  # fmt: skip
    done = subprocess.run(command, cwd=tools.HOME, capture_output=True, text=True, check=False)
    counted = re.search(r"([\d,]+) generated", done.stdout)
    if counted is None:
        raise SystemExit(done.stdout[-3000:] + done.stderr[-3000:])
    return int(counted[1].replace(",", "")), "" if done.returncode == 0 else done.stdout[-8000:]
