"""The Python interface as docs/python.md shows it, and a translator that several threads use."""

from __future__ import annotations

import doctest
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copyfile

import pytest

import nmt_cli as nmt
from support.models import export_untrained, prepare_toy, toy_pairs

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


class SameShape(doctest.OutputChecker):
    """Compares what is printed apart from numbers and what stands in quotes: the model here is tiny."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return shape(want) == shape(got)


def shape(text: str) -> str:
    text = re.sub(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", "'…'", text)
    return re.sub(r"\d+(?:\.\d+)?", "0", re.sub(r"\w+ -> \w+", "…", text))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    corpus = prepare_toy(tmp_path)
    copyfile(tmp_path / "toy.tsv", tmp_path / "corpus.tsv")
    export_untrained(corpus, tmp_path / "model")
    subtitle = "{0}\n00:00:0{0},000 --> 00:00:0{0},900\nbade giko.\n\n"
    (tmp_path / "film.srt").write_text(subtitle.format(1) + subtitle.format(2), encoding="utf-8")
    return tmp_path


def test_the_examples_of_the_page_run(place: Path) -> None:
    page = doctest.DocTestParser().get_doctest(PAGE.read_text(encoding="utf-8"), {"nmt": nmt}, PAGE.name, str(PAGE), 0)
    said: list[str] = []
    runner = doctest.DocTestRunner(checker=SameShape())
    result = runner.run(page, out=said.append)
    assert not result.failed, "".join(said)
    assert result.attempted > 20


def test_threads_get_what_each_would_get_alone(place: Path) -> None:
    translator = nmt.load("model", max_length=12)
    lines = [source for source, _ in toy_pairs(64)]
    alone = [translator.translate(line) for line in lines]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(translator.translate, lines)) == alone
        together = list(pool.map(lambda _: translator.translate(lines), range(4)))
    assert together == [alone] * 4
