"""Open WebUI on a free port, used through its API like its page does: a file, a chat, its tasks."""

from __future__ import annotations

import subprocess
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx

_START_S = 120.0
_REPLY_S = 60.0
_LOOK_S = 0.2
_STOP_S = 20.0
_TASKS = {"title_generation": True, "tags_generation": True, "follow_up_generation": True}


class OpenWebUI:
    """A running Open WebUI with one account; ``with OpenWebUI(...) as front``."""

    def __init__(self, program: list[str], port: int, folder: Path, variables: Mapping[str, str]) -> None:
        self._http = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=_REPLY_S, trust_env=False)
        self._command = [*program, "serve", "--host", "127.0.0.1", "--port", str(port)]
        self._variables = {**variables, "DATA_DIR": str(folder)}
        self._log = folder / "log.txt"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> OpenWebUI:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command, cwd=self._log.parent, env=self._variables, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log,
            )  # fmt: skip
        _until(self._is_up, _START_S, "it did not start")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                self._process.kill()

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def sign_up(self, name: str) -> str:
        """Create an account and act as it from now on; return its id. The first one may create the others."""
        form = {"name": name, "email": f"{name}@example.org", "password": f"{name}-{name}-1A", "role": "user"}
        path = "/api/v1/auths/add" if "Authorization" in self._http.headers else "/api/v1/auths/signup"
        account = self._http.post(path, json=form).raise_for_status().json()
        self._http.headers["Authorization"] = f"Bearer {account['token']}"
        user_id: str = account["id"]
        return user_id

    def upload(self, file: Path) -> str:
        """Return the id of a file, once it has been ingested."""
        sent = {"file": (file.name, file.read_bytes(), "text/plain")}
        file_id: str = self._http.post("/api/v1/files/", files=sent).raise_for_status().json()["id"]
        status = f"/api/v1/files/{file_id}/process/status"
        _until(lambda: self._http.get(status).json().get("status") in ("completed", "failed"), _REPLY_S, "not read in")
        return file_id

    def chat(self, model: str, text: str, files: Sequence[str], is_done: Callable[[], bool]) -> str:
        """Send a text with files in a new chat; return the reply once it is complete and ``is_done`` is true."""
        message = {
            "id": str(uuid.uuid4()),
            "role": "user",
            "content": text,
            "timestamp": int(time.time()),
            "models": [model],
        }
        beside = [{"type": "file", "id": file, "name": file, "status": "uploaded"} for file in files]
        form: dict[str, Any] = {
            "model": model, "messages": [{"role": "user", "content": text}], "stream": True, "parent_id": None,
            "id": str(uuid.uuid4()), "session_id": str(uuid.uuid4()), "user_message": {**message, "files": beside},
            "background_tasks": _TASKS, "files": beside,
        }  # fmt: skip
        self._http.get("/api/models").raise_for_status()
        begun = self._http.post("/api/chat/completions", json=form).raise_for_status().json()
        _until(lambda: bool(self._answer(begun["chat_id"])) and is_done(), _REPLY_S, "no answer, or no tasks")
        return self._answer(begun["chat_id"])

    def _answer(self, chat_id: str) -> str:
        chat = self._http.get(f"/api/v1/chats/{chat_id}").raise_for_status().json()["chat"]
        messages = chat["history"]["messages"].values()
        said = [one for one in messages if one["role"] == "assistant" and one.get("done")]
        return str(said[-1].get("content") or said[-1].get("output")) if said else ""

    def _is_up(self) -> bool:
        try:
            return self._http.get("/health").status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False


def _until(is_so: Callable[[], bool], within_s: float, complaint: str) -> None:
    deadline = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < deadline, complaint
        time.sleep(_LOOK_S)
