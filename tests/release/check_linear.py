"""Whether the time of a line or a document grows with its length, whatever it consists of.

    python tests/release/check_linear.py [--model eng-deu] [--formats line,md,html,docx] [--find PATTERN]

Translates 4,000 and 64,000 characters of each of 330 atoms (`. `, `1.1.`, `<b>`, ...) behind a label, with a copy in
place of the network. Prints what takes time that grows with an exponent of more than 1.2, and fails if there is any.
What seems to is measured three times, of which the least counts: another process may empty the caches.
"""

import argparse
import json
import math
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

import numpy as np

from nmt_cli.api.translator import translate_file
from nmt_cli.arrays.types import END
from nmt_cli.documents.config import DocumentOptions
from nmt_cli.runtime.installed_models import find_model
from nmt_cli.search.config import SearchOptions
from nmt_cli.search.constraints import TextId
from nmt_cli.sources.source import SourceRow
from nmt_cli.text.tags import SentenceContext
from nmt_cli.translation.config import CheckOptions, LineOptions, RepairOptions, TranslateOptions
from nmt_cli.translation.request import TranslationRequest
from nmt_cli.translation.result import Hypothesis, Translation
from nmt_cli.translation.search import CountReporter, Network, PieceTranslations
from nmt_cli.translation.translator import LineTranslator

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.archives import make_docx, make_odt

SHORT, LONG = 4_000, 64_000  # characters
LARGEST = 1.2  # exponent
SECONDS = 0.5  # of the long text, from which a clock can tell
TOKENS = 50  # of a copy
PREFIX = "We go: "
SIGNS = ". , ; : ! ? … – — - _ / \\ | * ~ # @ & % $ € + = < > ( ) [ ] { } \" ' “ „ « ` ^ ° § • ☐ 🙂 ⟦ ¿ ؟ । 。".split()
PARTS = (
    "a A ab dog Dog DOG dgo e.g. Dr. No. U.S. don't Kazimierz Tom/Mary Lehrer/innen dog-house dogHouse"
    " dog_house a.pdf /usr C++ AT&T f(x) --dry-run @tom 1 12 123 1.1. 1.000 1,000.5 12:30 2012-12-12 $5 5% 5kg"
    " 9am-5pm 1st 1) a) (a) [4] [x] iv) Q: Note: a=b -> ... -- ___ .... ** == || |||| \\n \\t {0} {name} ${a}"
    " %s %1$s {{a}} :name «Name» [X1X] ⟦0⟧ <b> </b> <b>a</b> <br> <br <x1> <!-- --> &amp; &#65; &eacute; www."
    " http:// http://a.b a@a. a@a.de a.a a,a a!a aa.Aa A🙂 *a* _a_ `a` [a](b) (a {a \"a 'a *a _a a) {#if} é İ"
    " Москва مرحبا नमस्ते 猫 日本。 한국 ① 1½ x² e\u0301 a\u200b \u00ad"
).split()
ATOMS = [
    *(f"{part}{end}" for part in [*SIGNS, *PARTS] for end in ("", " ")),
    "\t",
    "a\t",
    "A dog. ",
    "1. a 2. b ",
    "Go! ",
]
TRIES = 3
WRITERS: dict[str, Callable[[str], str | bytes]] = {  # of formats that are not the text itself
    "docx": lambda text: make_docx(f"<w:p><w:r><w:t>{escape(text)}</w:t></w:r></w:p>"),
    "odt": lambda text: make_odt(f"<text:p>{escape(text)}</text:p>"),
    "srt": lambda text: f"1\n00:00:01,000 --> 00:00:02,000\n{text}\n",
    "po": lambda text: f'msgid "{escape_string(text)}"\nmsgstr ""\n',
    "json": lambda text: json.dumps({"a": text}),
    "xliff": lambda text: (
        '<xliff version="1.2"><file original="a" source-language="en" datatype="plaintext"><body>'
        f'<trans-unit id="1"><source>{escape(text)}</source></trans-unit></body></file></xliff>'
    ),
}


class CopyingNetwork(Network):
    """Copies the beginning of what it reads."""

    def search(
        self,
        texts: Mapping[TextId, str],
        config: SearchOptions,
        progress: CountReporter | None = None,
        contexts: Mapping[TextId, SentenceContext] | None = None,
    ) -> PieceTranslations:
        rows = self.source.make_rows(list(texts.values()), config.max_source_length)
        return {text_id: self.copy(text, row) for (text_id, text), row in zip(texts.items(), rows, strict=True)}

    def copy(self, text: str, row: SourceRow) -> Translation:
        source, target = self.source, self.target
        tokens = (*target.encode(text[: 10 * TOKENS])[:TOKENS], END)
        scores, attention = (-1.0,) * len(tokens), np.eye(len(tokens), len(row))
        pieces, (copied,) = tuple(target.spell_pieces(tokens)), target.decode_all([tokens])
        hypothesis = Hypothesis(copied, tokens, pieces, sum(scores), -1.0, scores, (attention,), True)
        return Translation(text, source.label_positions(row), (hypothesis,), source.find_unseen(text))


def make_runs(translator: LineTranslator, formats: Sequence[str], folder: Path) -> Iterator[Callable[[str], object]]:
    """Yields a function for each format that translates a text: a line, or the content of a document."""

    def translate(lines: Sequence[str]) -> list[Translation]:
        return translator.translate(
            lines, TranslateOptions(SearchOptions(beam_size=1), repair=RepairOptions(), checks=CheckOptions())
        )

    def translate_document(name: str, text: str) -> None:
        source = folder / f"source.{name}"
        content = WRITERS.get(name, str)(text)
        source.write_bytes(content if isinstance(content, bytes) else content.encode())
        config = DocumentOptions(format=name)
        translate_file(lambda block: translate(block.texts), source, folder / "target", config, translator.languages)

    for name in formats:
        yield (
            (lambda text: translate([text]))
            if name == "line"
            else (lambda text, name=name: translate_document(name, text))
        )


def escape_string(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")


def find_exponent(run: Callable[[str], object], atom: str) -> tuple[float, float]:
    """Returns the seconds of the long text, and with which exponent time grows: 0 where a clock cannot tell."""
    short = long = math.inf
    for _ in range(TRIES):
        long = min(long, measure(run, atom, LONG))
        if long <= SECONDS:
            return long, 0.0
        short = min(short, measure(run, atom, SHORT))
        exponent = math.log(long / short, LONG / SHORT)
        if exponent <= LARGEST:
            break
    return long, exponent


def measure(run: Callable[[str], object], atom: str, length: int) -> float:
    """Returns the seconds of the processor that a text of so many characters takes."""
    start = time.process_time()
    run(PREFIX + (atom * length)[:length])
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=Path("eng-deu"))
    parser.add_argument("--formats", default="line,md,html", help="line, or names of formats")
    parser.add_argument("--find", default="", help="pattern of the atoms to try")
    options = parser.parse_args()
    translator = TranslationRequest(find_model(options.model), lines=LineOptions(slips=True), threads=1).load()
    translator.network = CopyingNetwork(*translator.network)
    names, slow = options.formats.split(","), 0
    atoms = [atom for atom in ATOMS if re.search(options.find, atom)]
    with tempfile.TemporaryDirectory() as folder:
        for name, run in zip(names, make_runs(translator, names, Path(folder)), strict=True):
            run(PREFIX)
            for atom in atoms:
                seconds, exponent = find_exponent(run, atom)
                if exponent > LARGEST:
                    slow += 1
                    print(f"{name:6} {atom!r:22} {exponent:.2f}   {seconds:.1f} s", flush=True)
    print(f"{slow} of {len(names) * len(atoms)} are slower than linear")
    sys.exit(slow > 0)


if __name__ == "__main__":
    main()
