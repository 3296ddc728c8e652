"""What does reading documents back cost?

    python benchmarks/documents.py [--texts 300] [FILE ...]

Translates each file, by default an .ftl, a .po, an .html and a .json of sentences of data/eng-deu.tsv, with the bundled
model, and prints the processor time of translating it and of reading it back, in one run.
"""

from __future__ import annotations

import argparse
import html
import json
import tempfile
import time
from pathlib import Path

import nmt_cli as nmt
from nmt_cli.documents.reading_back import ReadBack

PAIRS = Path(__file__).parents[1] / "data" / "eng-deu.tsv"


def make_files(folder: Path, count: int) -> list[Path]:
    """Writes a file of each format with the same sentences, every third with a placeholder."""
    rows = PAIRS.read_text(encoding="utf-8").splitlines()
    sentences = [row.split("\t")[0] for row in rows[:: max(1, len(rows) // count)]][:count]
    texts = [f"{text[:-1]} {{ $x }}{text[-1]}" if not number % 3 else text for number, text in enumerate(sentences)]
    contents = {
        "a.ftl": "".join(f"k{number} = {text}\n" for number, text in enumerate(texts)),
        "a.po": "".join(f'msgid {json.dumps(text)}\nmsgstr ""\n\n' for text in dict.fromkeys(texts)),
        "a.html": f"<html lang='en'>{''.join(f'<p><b>Now</b> {html.escape(text)}</p>' for text in texts)}</html>",
        "a.json": json.dumps({f"k{number}": text for number, text in enumerate(texts)}, indent=1),
    }
    for name, content in contents.items():
        (folder / name).write_text(content, encoding="utf-8")
    return [folder / name for name in contents]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--texts", type=int, default=300)
    options = parser.parse_args()
    finish, spent = ReadBack.finish, [0.0]

    def measure_finish(self: ReadBack) -> str | bytes:
        started = time.process_time()
        try:
            return finish(self)
        finally:
            spent[0] += time.process_time() - started

    ReadBack.finish = measure_finish  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder, nmt.load("eng-deu") as translator:
        for file in options.files or make_files(Path(folder), options.texts):
            spent[0], started = 0.0, time.process_time()
            report = translator.translate_file(file, Path(folder) / f"translated{file.suffix}")
            translating = time.process_time() - started - spent[0]
            share = 100 * spent[0] / translating
            print(
                f"{file.name}: {report.texts:,} texts, {translating:.2f} s, read back {spent[0]:.3f} s: {share:.2f} %"
            )


if __name__ == "__main__":
    main()
