"""The real command line, in this process or in one of its own."""

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, chdir, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from unittest.mock import patch

from nmt_cli.cli.app import main

Done = subprocess.CompletedProcess[str]


@contextmanager
def keep_process() -> Iterator[None]:
    """Restores what `main` sets for a process that is its own: handlers of signals and the garbage collector."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    threshold = gc.get_threshold()
    try:
        yield
    finally:
        gc.set_threshold(*threshold)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def nmt(*arguments: str, cwd: Path, text: str | bytes = b"", **environment: str) -> Done:
    """Runs the command in this process, where its imports are made once; standard input is `text`.

    Streams are files, as with `nmt translate <in >out 2>err`. Tests of pipes, signals and memory start processes.
    """
    code: object = None
    with keep_process(), chdir(cwd), ExitStack() as stack:
        out, error = (stack.enter_context(TemporaryFile()) for _ in range(2))
        streams = {  # which the command may close
            name: stack.enter_context(open(number, mode, encoding="utf-8", closefd=False))
            for name, mode, number in (
                ("stdin", "r", 0),
                ("stdout", "w", out.fileno()),
                ("stderr", "w", error.fileno()),
            )
        }
        stack.enter_context(redirect_input(text.encode() if isinstance(text, str) else text))
        stack.enter_context(patch.dict(os.environ, {"COLUMNS": "100", **environment}))
        stack.enter_context(patch.multiple(sys, **streams))
        try:
            main(arguments)
        except SystemExit as end:
            code = end.code
        streams["stdout"].flush()
        streams["stderr"].flush()
        said = [file.seek(0) or file.read().decode() for file in (out, error)]
    return subprocess.CompletedProcess(["nmt", *arguments], int(code or 0), *said)


@contextmanager
def redirect_input(data: bytes) -> Iterator[None]:
    """Makes a file with these bytes the standard input of the process, under the number by which blocks are read."""
    before = os.dup(0)
    with TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        os.dup2(file.fileno(), 0)
    try:
        yield
    finally:
        os.dup2(before, 0)
        os.close(before)


def run_program(*arguments: str, cwd: Path, text: str | bytes = b"", **environment: str) -> Done:
    """Runs the command as a process of its own, for what is decided when Python starts."""
    done = subprocess.run(
        [sys.executable, "-m", "nmt_cli", *arguments],
        cwd=cwd,
        input=text.encode() if isinstance(text, str) else text,
        capture_output=True,
        env={**os.environ, "COLUMNS": "100", **environment},
        check=False,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def succeed(*arguments: str, cwd: Path, text: str | bytes = b"", **environment: str) -> Done:
    done = nmt(*arguments, cwd=cwd, text=text, **environment)
    assert done.returncode == 0, done.stderr
    return done
