"""Whether every extra of pyproject.toml can be installed, and whether the lowest versions it allows translate.

    python tests/release/check_install.py

Resolves each extra with `pip install --dry-run`, without installing anything. Then installs the lowest version of each
core dependency into an environment of its own and translates with it a model that this environment exports. Prints one
line per check; exits with 1 if any failed. Takes five to ten minutes and needs a package index.
"""

import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

PROJECT = Path(__file__).parents[2]
sys.path.insert(0, str(PROJECT / "tests"))


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(part) for part in command], capture_output=True, text=True)


def report(what: str, done: subprocess.CompletedProcess[str]) -> bool:
    """Prints how a check ended; returns whether it passed."""
    reason = "" if done.returncode == 0 else ": " + (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    print(f"{'ok    ' if done.returncode == 0 else 'FAILED'} {what}{reason}", flush=True)
    return done.returncode == 0


def check_extras(extras: list[str]) -> bool:
    """Resolves each extra together with the core."""
    pip = (sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--ignore-installed")
    results = [report(f"extra {extra} resolves", run(*pip, f"{PROJECT}[{extra}]")) for extra in extras]
    return all(results)


def check_lowest(dependencies: list[str], directory: Path) -> bool:
    """Translates with the lowest version of each core dependency."""
    lowest = [dependency.split("#")[0].strip().replace(">=", "==") for dependency in dependencies]
    venv.create(directory / "lowest", with_pip=True)
    programs = directory / "lowest" / "bin"
    install = run(programs / "python", "-m", "pip", "install", "--quiet", *lowest)
    if not report("lowest versions install", install):
        return False
    run(programs / "python", "-m", "pip", "install", "--quiet", "--no-deps", PROJECT)
    lines = directory / "lines.txt"
    lines.write_text("ba de.\n", encoding="utf-8")
    return report(
        "lowest versions translate", run(programs / "nmt", "translate", lines, "--model", make_model(directory))
    )


def make_model(directory: Path) -> Path:
    """Exports a tiny network with its initial weights."""
    from support.models import export_untrained, prepare_toy

    return export_untrained(prepare_toy(directory), directory / "model")


def main() -> int:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    with tempfile.TemporaryDirectory(prefix="nmt.") as scratch:
        passed = check_extras(sorted(project["optional-dependencies"]))
        passed = check_lowest(project["dependencies"], Path(scratch)) and passed
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
