"""The Python interface as docs/python.md shows it, and a translator that several threads use."""

import doctest
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import nmt_cli as nmt
from support.models import toy_pairs, write_pairs
from support.slow import sample

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


class SameShape(doctest.OutputChecker):
    """Compares what is printed apart from numbers and what stands in quotes: the model here is tiny."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return shape(want) == shape(got)


def shape(text: str) -> str:
    text = re.sub(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", "'…'", text)
    return re.sub(r"\d+(?:\.\d+)?", "0", re.sub(r"\w+ -> \w+", "…", text))


@pytest.fixture(autouse=True)
def here(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Goes to a directory with the files that the page names."""
    monkeypatch.chdir(place)
    write_pairs(Path("corpus.tsv"), toy_pairs(600))
    subtitle = "{0}\n00:00:0{0},000 --> 00:00:0{0},900\nbade giko.\n\n"
    Path("film.de.srt").unlink(missing_ok=True)  # which an earlier run of the page wrote
    Path("film.srt").write_text(subtitle.format(1) + subtitle.format(2), encoding="utf-8")


@pytest.mark.parametrize("trains", sample([False, True], 0), ids=["without training", "with training"])
def test_the_examples_of_the_page_run(trains: bool) -> None:
    page = doctest.DocTestParser().get_doctest(PAGE.read_text(encoding="utf-8"), {"nmt": nmt}, PAGE.name, str(PAGE), 0)
    page.examples = [example for example in page.examples if trains or "train" not in example.source]
    said: list[str] = []
    runner = doctest.DocTestRunner(checker=SameShape())
    result = runner.run(page, out=said.append)
    assert not result.failed, "".join(said)
    assert result.attempted > 20


def test_threads_get_what_each_would_get_alone() -> None:
    translator = nmt.load("model", max_length=12)
    lines = [source for source, _ in toy_pairs(64)]
    alone = [translator.translate(line) for line in lines]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(translator.translate, lines)) == alone
        together = list(pool.map(lambda _: translator.translate(lines), range(4)))
    assert together == [alone] * 4
