"""Make the virtual environment and install the locked packages into it: uv where pip can bring it, else pip."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"


def main(folder: Path) -> None:
    """Install everything that the lock file names, check hashes, compile bytecode, then install this checkout."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    if _succeeds(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "uv"):
        base = [str(python), "-m", "uv", "pip", "install", "--quiet", "--python", str(python), "--compile-bytecode"]
        if _succeeds(*base, "--require-hashes", "-r", LOCK) and _succeeds(*base, "--no-deps", "--editable", ROOT):
            return
        print("uv could not install the locked packages; trying pip", file=sys.stderr)
    base = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*base, "--require-hashes", "-r", str(LOCK)], check=True)
    subprocess.run([*base, "--no-deps", "--editable", str(ROOT)], check=True)


def _succeeds(*command: object) -> bool:
    return subprocess.run([str(part) for part in command], check=False).returncode == 0


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ".venv"))
