"""``throughline ingest``: its report on each file, and on files that it does not read."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner, Result

from proxy.cli.main import app
from tests.running import Running
from tests.shown.standins import public
from tests.talking import Speaker, new_key, speaking


def ingest(speaker: Speaker, *words: str) -> Result:
    return CliRunner().invoke(app, ["ingest", *words, "--base-url", speaker.server.base_url, "--key", speaker.key])


def test_files_are_read_and_recalled(server: Running, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "tides.md").write_text("The tide at Morvenquay turns at four.")
    with speaking(server, new_key()) as speaker:
        result = ingest(speaker, str(public("documents/pdf/minimal-document.pdf")), str(tmp_path))
        assert result.exit_code == 0, result.output
        assert "minimal-document.pdf  ready: 1 pages" in result.output
        assert "tides.md  ready: 1 pages, 1 passages" in result.output
        assert {one["name"] for one in speaker.get("/documents")["data"]} == {"minimal-document.pdf", "tides.md"}


def test_a_file_that_is_not_read_says_why(server: Running, tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"\x7fELF" + bytes(200))
    with speaking(server, new_key()) as speaker:
        result = ingest(speaker, str(tmp_path / "a.bin"), str(public("documents/pdf/libreoffice-writer-password.pdf")))
    assert result.exit_code == 1
    first, second = result.output.splitlines()
    assert first.startswith("a.bin  failed: ")
    assert second.startswith("libreoffice-writer-password.pdf  failed: ")
    assert "password" in second


def test_a_server_that_is_away_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    result = CliRunner().invoke(app, ["ingest", str(tmp_path / "a.txt"), "--base-url", "http://127.0.0.1:9/v1"])
    assert result.exit_code == 1
    assert "is the server running?" in result.output
