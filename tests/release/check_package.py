"""Whether the package can be uploaded to an index and translates from there.

    NMT_ADDRESS=https://HOST/OWNER/nmt python tests/release/check_package.py

Copies what git tracks, with the address of the repository in pyproject.toml and in the links of README.md, which an
index shows by itself. Builds the source distribution and from it the wheel into dist/, lets twine check both, installs
the wheel and a model into a fresh environment, and runs `make try` with it. Prints one line per check; exits with 1 if
any failed. Takes two minutes and needs a package index.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

PROJECT = Path(__file__).parents[2]
ADDRESS = os.environ.get("NMT_ADDRESS", "https://example.org/nmt")
LINK = re.compile(r'(?P<before>\]\(|<img src=")(?!https?:|#)(?P<path>[^)"]+)')


def make_absolute(text: str) -> str:
    """Returns a page of the repository whose links and pictures name their address."""

    def complete(link: re.Match[str]) -> str:
        kind = "raw" if link["before"].startswith("<") else "blob"
        return f"{link['before']}{ADDRESS}/{kind}/main/{link['path']}"

    return LINK.sub(complete, text)


def copy_with_address(copy: Path) -> None:
    """Writes the tracked files as they are to be uploaded."""
    for name in run("git", "ls-files", "-z").stdout.split("\0")[:-1]:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(PROJECT / name, copy / name)
    readme, project = copy / "README.md", copy / "pyproject.toml"
    readme.write_text(make_absolute(readme.read_text(encoding="utf-8")), encoding="utf-8")
    urls = {"Repository": "", "Documentation": "/blob/main/docs/index.md", "Changelog": "/blob/main/CHANGELOG.md"}
    lines = [f'{name} = "{ADDRESS}{path}"' for name, path in urls.items()]
    project.write_text("\n".join([project.read_text(encoding="utf-8"), "[project.urls]", *lines, ""]), encoding="utf-8")


def run(*command: str | Path, folder: Path = PROJECT) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=folder, env=environment)


def report(what: str, done: subprocess.CompletedProcess[str]) -> bool:
    """Prints how a check ended; returns whether it passed."""
    details = "" if done.returncode == 0 else f":\n{done.stdout}{done.stderr}"
    print(f"{'ok    ' if done.returncode == 0 else 'FAILED'} {what}{details}", flush=True)
    return done.returncode == 0


def check(scratch: Path) -> bool:
    copy, built, tools, fresh = (scratch / name for name in ("nmt", "dist", "tools", "fresh"))
    copy_with_address(copy)
    for environment in (tools, fresh):
        venv.create(environment, with_pip=True)
    pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    python, programs = tools / "bin" / "python", fresh / "bin"
    if not report("the tools are installed", run(python, *pip, "build", "twine")):
        return False
    if not report("sdist and wheel are built", run(python, "-m", "build", "--outdir", built, copy)):
        return False
    files = sorted(built.iterdir())
    if not report("twine finds no fault", run(python, "-m", "twine", "check", "--strict", *files)):
        return False
    extras, model = f"{next(built.glob('*.whl'))}[formats,serve]", copy / "data" / "models" / "eng-deu"
    if not report("the wheel and a model install", run(programs / "python", *pip, "--no-compile", extras, model)):
        return False
    # The stamp of the installation is taken as new: what runs is the wheel, with nothing of the repository on its path.
    makefile = ("make", "--file", PROJECT / "Makefile", "--old-file", ".venv/try-installed")
    tried = run(*makefile, "try", f"NMT={programs / 'nmt'}", folder=fresh)
    if not report("make try translates from the wheel", tried):
        return False
    print(tried.stderr + tried.stdout)
    shutil.copytree(built, PROJECT / "dist", dirs_exist_ok=True)
    print(f"dist/ has {' and '.join(path.name for path in files)}, of {ADDRESS}")
    return "Wo ist der Bahnhof?" in tried.stdout


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="nmt.") as scratch:
        return 0 if check(Path(scratch)) else 1


if __name__ == "__main__":
    sys.exit(main())
