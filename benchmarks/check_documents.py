"""Whether translated documents open in the programs that own their formats.

    python benchmarks/check_documents.py

Writes one document per format, translates it through the command line with a tiny untrained model, and hands the result
to `msgfmt -c` (catalogues) and LibreOffice (tables). A program that is not installed is reported as skipped. Prints one
line per document; exits with 1 if any failed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).parents[1]
sys.path.insert(0, str(PROJECT / "tests"))

CATALOGUE = r"""msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\n"

#, c-format
msgid "Open the file %s."
msgstr ""

#, c-format
msgid "%d cat"
msgid_plural "%d cats"
msgstr[0] ""
msgstr[1] ""
"""
DOCUMENTS = {
    "catalogue.po": CATALOGUE,
    "table.csv": 'id,text\n1,"ba, de."\n2,"gi ""ko"" lu."\n',
    "table.tsv": "id\ttext\n1\tba de.\n2\tgi ko.\n",
}
OPENERS = {  # the program for each kind, and how it is called with the file and an output directory
    ".po": ("msgfmt", lambda path, output: ["-c", str(path), "-o", str(output / "catalogue.mo")]),
    ".csv": ("soffice", lambda path, output: ["--headless", "--convert-to", "pdf", "--outdir", str(output), str(path)]),
    ".tsv": ("soffice", lambda path, output: ["--headless", "--convert-to", "pdf", "--outdir", str(output), str(path)]),
}


def translate(source: Path, target: Path, model: Path) -> subprocess.CompletedProcess[str]:
    column = [] if source.suffix == ".po" else ["--column", "text"]
    command = [
        sys.executable,
        "-m",
        "nmt_cli",
        "translate",
        str(source),
        "-o",
        str(target),
        "--model",
        str(model),
        *column,
    ]
    return subprocess.run(command, capture_output=True, text=True)


def check(name: str, directory: Path, model: Path) -> bool:
    """Translates one document and opens the result; returns whether both succeeded."""
    source, target = directory / name, directory / "out" / name
    source.write_text(DOCUMENTS[name], encoding="utf-8")
    done = translate(source, target, model)
    program, arguments = OPENERS[source.suffix]
    if done.returncode == 0 and shutil.which(program) is None:
        print(f"skipped {name}: {program} is not installed")
        return True
    if done.returncode == 0:
        done = subprocess.run([program, *arguments(target, target.parent)], capture_output=True, text=True)
    print(f"{'ok     ' if done.returncode == 0 else 'FAILED '} {name}, {program} {done.stderr.strip()}".rstrip())
    return done.returncode == 0


def main() -> int:
    from support.models import export_untrained, prepare_toy

    with tempfile.TemporaryDirectory(prefix="nmt.") as scratch:
        directory = Path(scratch)
        (directory / "out").mkdir()
        model = export_untrained(prepare_toy(directory), directory / "model")
        results = [check(name, directory, model) for name in DOCUMENTS]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
