from __future__ import annotations

from pathlib import Path

import pytest

from nmt_cli.api.memory import MemoryLanguageError
from nmt_cli.cli.serve import open_memories
from nmt_cli.runtime import model_directory
from support.fakes import make_card

TMX = (
    '<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>Yes.</seg></tuv>'
    '<tuv xml:lang="{}"><seg>{}</seg></tuv></tu></body></tmx>'
)


def test_each_served_model_has_the_memories_of_its_languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models = {
        Path("there"): make_card("eng", "deu"),
        Path("back"): make_card("deu", "eng"),
        Path("fr"): make_card("eng", "fra"),
    }
    monkeypatch.setattr(model_directory, "read_card", models.__getitem__)
    german, czech = str(tmp_path / "de.tmx"), str(tmp_path / "cs.tmx")
    Path(german).write_text(TMX.format("de", "Ja."), encoding="utf-8")
    Path(czech).write_text(TMX.format("cs", "Ano."), encoding="utf-8")
    memories = open_memories(list(models), [german, "later.tsv"], "later.tsv")  # no suggestion was made yet
    assert {str(model): memory.targets for model, memory in memories.items()} == {
        "there": {"Yes.": "Ja."},
        "back": {"Ja.": "Yes."},
    }
    assert open_memories(list(models), [], None) == {}
    with pytest.raises(MemoryLanguageError):
        open_memories(list(models), [german, czech], None)
