"""The command `mcp` as a process."""

from __future__ import annotations

import json
import subprocess
import sys

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}},
}


def test_client_that_left_causes_no_traceback() -> None:
    command = [sys.executable, "-m", "proxy", "mcp"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdout.close()
        server.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        server.stdin.close()
        assert server.stderr.read() == b""
        assert server.wait() == 0
