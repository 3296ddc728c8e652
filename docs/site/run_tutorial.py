"""Runs the commands of docs/tutorial.md in an empty directory; ends with the first that fails.

    python docs/site/run_tutorial.py [--quick]

`--quick` takes 3,000 pairs and tiny networks, to see that every command runs; the text is about the full ones.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
TINY = "--epochs 1 --units 16 --embedding 16".split()


def list_commands() -> list[list[str]]:
    text = (PROJECT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    return [shlex.split(line) for block in BLOCK.findall(text) for line in block.splitlines() if line.strip()]


def main() -> int:
    is_quick = "--quick" in sys.argv
    with tempfile.TemporaryDirectory(prefix="nmt.") as folder:
        (Path(folder) / "data").mkdir()
        lines = (PROJECT / "data" / "eng-deu.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
        copy = Path(folder, "data", "eng-deu.tsv")
        copy.write_text("".join(lines[:: len(lines) // 3_000] if is_quick else lines), encoding="utf-8")
        for program, command, *arguments in list_commands():
            if is_quick and command == "train":
                arguments[arguments.index("--epochs") : arguments.index("--epochs") + 2] = TINY
            if is_quick and command == "prepare":
                arguments += ["--test", "100", "--dev", "100"]
            print("$", shlex.join([program, command, *arguments]), flush=True)
            done = subprocess.run([sys.executable, "-m", "nmt_cli", command, *arguments], cwd=folder)
            if done.returncode:
                return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
