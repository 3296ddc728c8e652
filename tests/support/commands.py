"""The real command line, run as a user would."""

import os
import subprocess
import sys
from pathlib import Path


def nmt(*arguments: str, cwd: Path, text: str | bytes = b"", **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the command as a user would; standard input is `text`."""
    done = subprocess.run(
        [sys.executable, "-m", "nmt_cli", *arguments],
        cwd=cwd,
        input=text.encode() if isinstance(text, str) else text,
        capture_output=True,
        env={**os.environ, "COLUMNS": "100", **environment},
        check=False,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def succeed(
    *arguments: str, cwd: Path, text: str | bytes = b"", **environment: str
) -> subprocess.CompletedProcess[str]:
    done = nmt(*arguments, cwd=cwd, text=text, **environment)
    assert done.returncode == 0, done.stderr
    return done
