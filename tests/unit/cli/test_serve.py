import sys
from pathlib import Path

import pytest

from nmt_cli.api.open_model import MemoryLanguageError
from nmt_cli.api.serve_config import ServeConfig
from nmt_cli.cli.render import Screen
from nmt_cli.cli.serve import open_memories, read_keys
from nmt_cli.errors import DataError
from nmt_cli.runtime import model_directory
from support.fakes import make_card

TMX = (
    '<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>Yes.</seg></tuv>'
    '<tuv xml:lang="{}"><seg>{}</seg></tuv></tu></body></tmx>'
)


def test_each_direction_of_a_model_has_the_memories_of_its_languages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = make_card("eng", "deu", tags={">deu": 9, ">nld": 9, "ui": 9})
    monkeypatch.setattr(model_directory, "read_card", lambda path: card)
    corrected = "source\ttarget\ttags\nHi.\tHallo!\t>deu\nHi.\tHoi!\t>nld\nBye.\tTschau.\t"
    files = {"eng-nld.tsv": "Yes.\tJa!", "any.tsv": "No.\tNein.", "more.tsv=to:nld": "No.\tNee.", "c.tsv": corrected}
    for name, line in files.items():
        (tmp_path / name.partition("=")[0]).write_text(f"{line}\n", encoding="utf-8")
    memories = open_memories([Path("m")], [f"{tmp_path}/{name}" for name in files], None)
    assert {languages[1]: memory.targets for (_, languages), memory in memories.items()} == {
        "deu": {"No.": "Nein.", "Hi.": "Hallo!", "Bye.": "Tschau."},
        "nld": {"Yes.": "Ja!", "No.": "Nee.", "Hi.": "Hoi!"},
    }


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
    expected = {"there": {"Yes.": "Ja."}, "back": {"Ja.": "Yes."}}
    for suggestions, others in ((None, {}), ("later.tsv", {"fr": {}})):  # which every model will learn from
        memories = open_memories(list(models), [german, *filter(None, [suggestions])], suggestions)
        assert {str(model): memory.targets for (model, _), memory in memories.items()} == expected | others
    assert open_memories(list(models), [], None) == {}
    with pytest.raises(MemoryLanguageError):
        open_memories(list(models), [german, czech], None)


def test_a_key_that_others_can_see_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("NMT_API_KEYS", "alice s3cret 60, bob t0ken")
    monkeypatch.setattr(sys, "argv", ["nmt", "translate", "--serve", "0"])
    assert [key.name for key in read_keys(ServeConfig(), Screen())] == ["alice", "bob"]
    in_a_file = ServeConfig(api_key="visible")
    assert read_keys(in_a_file, Screen())[-1].secret == "visible"
    assert capsys.readouterr().err == ""
    for argument in ("--api-key=visible", "visible", "api-key=visible"):
        monkeypatch.setattr(sys, "argv", ["nmt", "translate", argument])
        read_keys(in_a_file, Screen())
        assert "can see the key of --api-key" in capsys.readouterr().err
    with pytest.raises(DataError):
        read_keys(ServeConfig(api_key="a b c d"), Screen())
