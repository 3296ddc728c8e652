"""Tests of open model: ."""

from contextlib import nullcontext
from pathlib import Path

import pytest

from nmt_cli.api.open_model import MemoryLanguageError, describe_foreign, load_memory, open_translator
from nmt_cli.documents import open_document
from nmt_cli.documents.config import DocumentOptions
from nmt_cli.documents.document import DocumentSource
from nmt_cli.errors import DataError, NotFoundError, OptionError
from nmt_cli.runtime.installed_models import find_model
from nmt_cli.search.config import SearchOptions
from nmt_cli.text.aligned import read_context
from nmt_cli.text.tags import parse_tag_list
from nmt_cli.translation.config import LineOptions, TranslateOptions
from nmt_cli.translation.memory.lookup import RecalledTranslation, TranslationMemory
from nmt_cli.translation.request import TranslationRequest
from nmt_cli.translation.translator import load_glossary
from support.archives import make_xlsx
from support.fakes import fake_loaded
from support.rewriting import read_profile

THERE, BACK = find_model(Path("eng-deu")), find_model(Path("deu-eng"))
LINES = ["Where is the station?", "", "Tom saw {name} at 5:30. I don't have <b>time</b> for that."]


def test_a_memory_in_a_third_language_is_reported() -> None:
    french = [("Où est la maison rouge de mon ami ?", "Wo ist das rote Haus meines Freundes?")]
    english = [("Where is the red house of my friend?", "Wo ist das rote Haus meines Freundes?")]
    profile = TranslationRequest(THERE).load().profile
    warned = [list(describe_foreign("a.tsv", pairs, ("eng", "deu"), profile)) for pairs in (french, english, [])]
    assert warned == [["a.tsv looks like French, but should be English"], [], []]


def test_a_reranked_list_holds_what_a_wider_search_finds() -> None:
    config = SearchOptions(beam_size=12, n_best=12)
    plain = open_translator(TranslationRequest(THERE)).translate(LINES, TranslateOptions(config))
    reranked = open_translator(TranslationRequest(THERE, rerank=BACK)).translate(LINES, TranslateOptions(config))
    assert reranked[0].hypotheses[0].score < plain[0].hypotheses[0].score  # which has no share of the judge
    for one, other in zip(plain[:2], reranked[:2], strict=True):  # of a line in parts, other ones are combined
        assert {hypothesis.text for hypothesis in one.hypotheses} == {
            hypothesis.text for hypothesis in other.hypotheses
        }
    assert all(span in reranked[2].text for span in ("{name}", "<b>", "</b>"))


def test_only_a_model_of_the_other_direction_reranks() -> None:
    with pytest.raises(OptionError, match=r"--rerank .* does not translate text from deu to eng"):
        open_translator(TranslationRequest(THERE, rerank=THERE))


TMX = (
    '<tmx version="1.4"><header srclang="de"/><body><tu><tuv xml:lang="de-AT"><seg>Der <hi>Hut</hi>.</seg></tuv>'
    '<tuv xml:lang="en-GB"><seg>The <hi>hat</hi>.</seg></tuv></tu></body></tmx>'
)
XLIFF = (
    '<xliff version="1.2"><file source-language="{}" target-language="{}"><body>'
    "<trans-unit id='1'><source>{}</source><target>{}</target></trans-unit>"
    "<trans-unit id='2'><source>The rest.</source><target state='new'>Rest?</target></trans-unit>"
    "</body></file></xliff>"
)
XLIFF_OF_TWO = (
    '<xliff version="1.2"><file source-language="en" target-language="de"><body>'
    "<trans-unit id='1'><source>Book</source><target>{}</target></trans-unit>"
    "<trans-unit id='2'><source>Book</source><target>{}</target></trans-unit></body></file></xliff>"
)
PO = (
    'msgid ""\nmsgstr "Language: de\\n"\n\nmsgid "The hat."\nmsgstr "Der Hut."\n\n'
    '#, fuzzy\nmsgid "The rest."\nmsgstr "Rest?"\n'
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("m.tmx", TMX),
        ("m.xlf", XLIFF.format("en", "de", "The hat.", "Der Hut.")),
        ("turned.xlf", XLIFF.format("de", "en", "Der Hut.", "The hat.")),
        ("m.po", PO),
        ("m.tsv", "The hat.\tDer Hut.\n"),
        ("m.deu-eng.tsv", "Der Hut.\tThe hat.\n"),
        ("m.csv", "de,en\nDer Hut.,The hat.\n"),
        ("m.jsonl", '{"source": "The hat.", "target": "Der Hut."}\n'),
    ],
)
def test_every_format_of_pairs_is_a_memory_whichever_way_round_it_is(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    memory = load_memory([tmp_path / name], ("eng", "deu"))
    assert memory.find("The hat.") == RecalledTranslation("The hat.", "Der Hut.", "memory")
    assert not memory.has_text("The rest.") and not memory.has_text("Der Hut.")


@pytest.mark.parametrize(("name", "form"), [("m.tmx", TMX), ("m.xlf", XLIFF.format("en", "de", "The {}", "Der {}"))])
def test_codes_of_an_exchange_file_are_read_with_what_they_hold_and_without(
    tmp_path: Path, name: str, form: str
) -> None:
    bold = '<bpt id="1">&lt;b&gt;</bpt>{}<ept id="1">&lt;/b&gt;</ept>.'
    form = form.replace("<hi>Hut</hi>.", bold.format("Hut")).replace("<hi>hat</hi>.", bold.format("hat"))
    (tmp_path / name).write_text(form.replace("{}", bold.format("hat"), 1).replace("{}", bold.format("Hut"), 1))
    memory = load_memory([tmp_path / name], ("eng", "deu"))
    texts = ("The hat.", "The <b>hat</b>.", "The <i>hat</i>.")
    assert [found.text for text in texts if (found := memory.find(text))] == [
        "Der Hut.",
        "Der <b>Hut</b>.",
        "Der <i>Hut</i>.",
    ]


@pytest.mark.parametrize(("text", "is_turned"), [("Der Hut.\tThe hat.\n", True), ("The hat.\tDer Hut.\n", False)])
def test_the_model_knows_the_direction_of_a_file_that_names_no_languages(
    tmp_path: Path, text: str, is_turned: bool
) -> None:
    (tmp_path / "m.tsv").write_text(text, encoding="utf-8")
    profile = read_profile([("The hat.", "Der Hut.")] * 50)
    assert profile.are_turned([tuple(text.strip().split("\t"))]) == is_turned  # type: ignore[list-item]
    assert load_memory([tmp_path / "m.tsv"], ("eng", "deu"), profile=profile).has_text("The hat.")
    with pytest.raises(DataError, match="begin with the target language") if is_turned else nullcontext():
        load_glossary(LineOptions(glossary=str(tmp_path / "m.tsv")), profile, ("eng", "deu"))


def test_two_parallel_files_are_a_memory_and_the_last_of_several_counts(tmp_path: Path) -> None:
    for name, text in (("a.en", "Save\nOpen\n"), ("a.de", "Sichern\nÖffnen\n"), ("b.tsv", "Save\tSpeichern\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    memory = load_memory([f"{tmp_path}/a.en,{tmp_path}/a.de", tmp_path / "b.tsv"], ("en", "de"))
    assert [memory.targets[text] for text in ("Save", "Open")] == ["Speichern", "Öffnen"]


def test_a_document_and_its_edited_translation_are_a_memory_with_the_same_marks(tmp_path: Path) -> None:
    pages = {
        "a.html": '<p lang="en">Press <b>Enter</b>.</p><p>Go <i>on</i> <b>now</b>.</p>',
        "b.html": '<p lang="de">Die <b>Eingabetaste</b> drücken.</p><p><i>Weiter</i> <b>so</b>.</p>',
        "c.html": "<p>Los.</p>",
    }
    for name, text in pages.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    memory = load_memory([f"{tmp_path}/a.html,{tmp_path}/b.html"], ("en", "de"))
    assert memory.targets == {
        "Press Enter.": "Die Eingabetaste drücken.",
        "Go on now.": "Weiter so.",
    }
    with pytest.raises(DataError, match="2 texts and 1 text"):
        load_memory([f"{tmp_path}/a.html,{tmp_path}/c.html"], ("en", "de"))


def test_a_workbook_and_its_edited_translation_are_a_memory_by_their_cells(tmp_path: Path) -> None:
    """As programs write them: texts in another order, equal ones once, and changed ones in their cells."""

    def write(name: str, strings: list[str], cells: str) -> str:
        texts = "".join(f"<si><t>{text}</t></si>" for text in strings)
        rows = f'<row r="2"><c r="D2"><v>7</v></c></row><row r="3">{cells}</row>'
        (tmp_path / name).write_bytes(make_xlsx(rows, texts))
        return str(tmp_path / name)

    shared = '<c r="{}3" t="s"><v>{}</v></c>'
    cell = '<c r="A3" t="inlineStr"><is><t>Pumpe</t></is></c>'
    old = write("a.xlsx", ["The pump", "Pump", "Go.\nStay."], "".join(map(shared.format, "ABC", "102")))
    edited = write("b.xlsx", ["Los.\nBleib.", "Pumpe"], cell + shared.format("B", 1) + shared.format("C", 0))
    other = write("c.xlsx", ["Los.\nBleib.", "Pumpe"], shared.format("B", 1) + shared.format("C", 0) + "<c/>")
    memory = load_memory([f"{old},{edited}"], ("en", "de"))
    assert memory.targets == {"The pump": "Pumpe", "Pump": "Pumpe", "Go.": "Los.", "Stay.": "Bleib."}
    with pytest.raises(DataError, match="4 texts and 3 texts") as refused:
        load_memory([f"{old},{other}"], ("en", "de"))
    assert "in cell A3 of sheet 1: put" in (refused.value.hint or "")


def test_two_files_that_each_have_pairs_are_refused_and_the_hint_names_the_translation(tmp_path: Path) -> None:
    for name in ("a.po", "b.po"):
        (tmp_path / name).write_text(PO, encoding="utf-8")
    with pytest.raises(DataError, match="not one sentence per line") as refused:
        load_memory([f"{tmp_path}/a.po,{tmp_path}/b.po"], ("eng", "deu"))
    assert refused.value.hint == f"give the translation alone: --tm {tmp_path}/b.po"


KEYED = {  # a text twice, with keys; "Buchen" and "Buch" are its translations
    "m.po": 'msgctxt "a"\nmsgid "Book"\nmsgstr "{}"\n\nmsgctxt "b"\nmsgid "Book"\nmsgstr "{}"\n',
    "m.xlf": XLIFF_OF_TWO,
    "m.json": '{{"a": {{"c": "{}"}}, "b": {{"c": "{}"}}}}',
    "m.yaml": "en:\n  a:\n    c: {}\n  b:\n    c: {}\n",
    "m.ini": "[x]\na={}\nb={}\n",
    "m.html": "<h1>{}</h1>\n<p>{}</p>\n",
}


@pytest.mark.parametrize("name", KEYED)
def test_equal_texts_have_the_translations_with_their_keys(tmp_path: Path, name: str) -> None:
    form, names, is_bilingual = KEYED[name], ["old", "edited"], name in ("m.po", "m.xlf")
    for folder, texts in zip(names, (("Book", "Book"), ("Buchen", "Buch")), strict=True):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(form.format(*texts), encoding="utf-8")
    old, edited = (str(tmp_path / folder / name) for folder in names)
    memory = load_memory([edited if is_bilingual else f"{old},{edited}"], ("eng", "deu"))
    new = form.format("", "") if is_bilingual else form.format("Book", "Book")
    source = DocumentSource([new.encode()], name, DocumentOptions(), "deu", source_language="eng", memory=memory)
    format = name.removeprefix("m.").replace("xlf", "xliff")
    texts = [text for unit in open_document(format, source).read_with_domain() for text in unit.texts]
    found = [memory.find(text, context=read_context(text)) for text in texts]
    assert [(pair.text, pair.rivals) for pair in found if pair] == [("Buchen", ()), ("Buch", ())]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("m.tmx", TMX.replace("de-AT", "fr")),
        ("m.po", PO.replace("Language: de", "Language: fr")),
        ("m.eng-fra.tsv", "The hat.\tLe chapeau.\n"),
        ("fr-en.csv", "Le chapeau.,The hat.\n"),
    ],
)
def test_a_memory_of_other_languages_is_refused(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(MemoryLanguageError) as problem:
        load_memory([tmp_path / name], ("eng", "deu"))
    assert "fr" in problem.value.message and "eng -> deu" in problem.value.hint


def test_text_without_translations_is_no_memory_and_the_hint_is_not_of_prepare(tmp_path: Path) -> None:
    (tmp_path / "mail.txt").write_text("Dear Anna,\nsee you soon.\n", encoding="utf-8")
    with pytest.raises(DataError) as refused:
        load_memory([tmp_path / "mail.txt"], ("eng", "deu"))
    assert refused.value.hint == "write a source sentence, a tab and a translation on each line"


def test_a_name_of_words_says_no_languages(tmp_path: Path) -> None:
    (tmp_path / "to-do.tsv").write_text("The hat.\tDer Hut.\n", encoding="utf-8")
    assert load_memory([tmp_path / "to-do.tsv"], ("eng", "deu")).has_text("The hat.")


def test_a_model_whose_languages_are_not_known_takes_any_memory(tmp_path: Path) -> None:
    (tmp_path / "m.tmx").write_text(TMX, encoding="utf-8")
    assert load_memory([tmp_path / "m.tmx"], ("source", "target")).has_text("Der Hut.")


def test_a_file_is_translated_with_a_memory_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "in.po").write_text('msgid "One. Two."\nmsgstr ""\n', encoding="utf-8")
    (tmp_path / "m.tsv").write_text("One. Two.\tEins, zwei.\n", encoding="utf-8")
    translator = fake_loaded()
    report = translator.translate_file(tmp_path / "in.po", tmp_path / "out.po", tm=tmp_path / "m.tsv")
    assert report.texts == 1  # what the memory has as a whole is not split into sentences
    assert translator.translate_file(tmp_path / "in.po", tmp_path / "out.po", force=True).texts == 2
    for name, text in (("m.en", "One. Two.\n"), ("m.de", "Eins, zwei.\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    tm = f"{tmp_path}/m.en,{tmp_path}/m.de"
    assert translator.translate_file(tmp_path / "in.po", tmp_path / "out.po", tm=tm, force=True).texts == 1
    with pytest.raises(NotFoundError):
        translator.translate_file(tmp_path / "in.po", tmp_path / "out.po", tm="nowhere.tmx", force=True)
    with pytest.raises(OptionError):
        translator.translate("One.", tm="m.tsv")


def test_a_pair_answers_only_who_asks_for_its_language_and_register(tmp_path: Path) -> None:
    rows = ["source\ttarget\ttags", "Go!\tGeht!\t", "Go!\tGehen Sie!\tformal", "Go!\tGa!\tto:nld", "Yes.\tJa.\tto:deu"]
    (tmp_path / "m.tsv").write_text("\n".join(rows), encoding="utf-8")
    memory = load_memory([tmp_path / "m.tsv"], ("eng", "deu"))
    assert memory.targets == {"Go!": "Geht!", "Yes.": "Ja."}
    assert memory.choose_register(parse_tag_list("to:deu formal")).targets == {"Go!": "Gehen Sie!", "Yes.": "Ja."}
    assert load_memory([tmp_path / "m.tsv"], ("eng", "nld")).targets == {"Go!": "Ga!"}


def test_memories_of_registers_are_joined_register_by_register() -> None:
    memory, other = TranslationMemory("deu"), TranslationMemory("deu")
    memory.add("a", "1")
    memory.add("b", "2", "formal")
    other.add("b", "3")
    other.add("c", "4", "informal")
    memory.update(other)
    assert memory.targets == {"a": "1", "b": "3"}
    assert memory.by_register["formal"].targets == {"a": "1", "b": "3"}
    assert memory.by_register["informal"].targets == {"a": "1", "b": "3", "c": "4"}


@pytest.mark.parametrize("text", ["source\ttarget\tRegister\n", "formality,source,target\n", "source\ttarget\ttags\n"])
def test_a_column_of_registers_answers_those_who_ask(tmp_path: Path, text: str) -> None:
    order = (2, 0, 1) if text.startswith("formality") else (0, 1, 2)
    rows = [
        ("Do you see?", "Sehen Sie?", "formal"),
        ("Do you see?", "Siehst du?", "informal"),
        ("It is.", "Es ist.", ""),
    ]
    lines = ((("," if "," in text else "\t").join(row[n] for n in order) + "\n") for row in rows)
    (tmp_path / "m.csv").write_text(text + "".join(lines), encoding="utf-8")
    memory = load_memory([tmp_path / "m.csv"], ("eng", "deu"))
    asked = {name: memory.choose_register(parse_tag_list(name)).targets for name in ("formal", "informal", "")}
    assert asked[""] == {"It is.": "Es ist."}
    assert (asked["formal"]["Do you see?"], asked["informal"]["Do you see?"]) == ("Sehen Sie?", "Siehst du?")


def test_pairs_of_a_register_alone_are_a_memory(tmp_path: Path) -> None:
    (tmp_path / "m.tsv").write_text("Do you see?\tSehen Sie?\n", encoding="utf-8")
    memory = load_memory([f"{tmp_path / 'm.tsv'}=formal"], ("eng", "deu"))
    assert memory and not memory.has_text("Do you see?")
    assert memory.choose_register(parse_tag_list("formal")).has_text("Do you see?")
    assert not load_memory([], ("eng", "deu"))
