"""Tests of recall: entries of a memory that are like a text guide its translation; all else stays as it is."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import nmt_cli as nmt
from nmt_cli.api.open_model import load_memory
from nmt_cli.carrying.glossary import Glossary
from nmt_cli.cli.app import app
from nmt_cli.documents.paragraph import GUESSED_MARKS, LEFT_OUT_MARKS
from nmt_cli.runtime.installed_models import find_model
from nmt_cli.search.config import SamplingOptions, SearchOptions
from nmt_cli.search.mixing import StoredTokens
from nmt_cli.translation.config import CheckOptions, RepairOptions, TranslateOptions
from nmt_cli.translation.forced import Judge, force_translations
from nmt_cli.translation.lines import ContextWindow, lay_out_lines
from nmt_cli.translation.memory.lookup import MOST_COMPARED, MOST_STORED, NearTexts, StoredEntries, TranslationMemory
from nmt_cli.translation.placement.alignment import find_links, trace_translation
from nmt_cli.translation.request import TranslationRequest
from nmt_cli.translation.result import Translation
from nmt_cli.translation.translator import LineTranslator
from support.adversary import adversarial_translator
from support.archives import make_docx, unpack
from support.documents import open_bytes, write_document
from support.properties import examples
from support.translations import Rule


def recall_lines(lines: Sequence[str], memory: TranslationMemory | None) -> list[Translation]:
    translator = adversarial_translator()
    return translator.translate(
        lines, TranslateOptions(SearchOptions(beam_size=2), checks=CheckOptions(), memory=memory)
    )


@pytest.mark.parametrize("links_words", [False, True])
def test_known_lines_and_sentences_come_from_the_memory_and_no_others(links_words: bool) -> None:
    memory = TranslationMemory(links_words=links_words)
    memory.add("Bade lu ma.", "Am ul <b>edab</b>.")
    memory.add("Ti so 3.", "3 os it.")
    lines = ["Bade lu ma.", "Ti so 4.", "Na re. Bade lu ma. Ti so 7.", "Na re.", ""]
    with_memory, without = recall_lines(lines, memory), recall_lines(lines, None)
    origins = [translation.origin for translation in with_memory]
    assert origins == ["memory", "memory_numbers", "memory_part", "network", "network"]
    assert [translation.text for translation in with_memory[:2]] == ["Am ul <b>edab</b>.", "4 os it."]
    assert with_memory[2].text.endswith("Am ul <b>edab</b>. 7 os it.")
    assert [translation.text for translation in with_memory[3:]] == [translation.text for translation in without[3:]]
    assert with_memory[2].text.startswith(without[3].text.split()[0])
    assert all(translation.origin == "network" for translation in without)


def test_words_of_a_recalled_translation_are_linked_by_attention() -> None:
    memory = TranslationMemory()
    memory.add("bade lu ma.", "edab ul am bade.")
    (translation,) = recall_lines(["bade lu ma."], memory)
    hypothesis = translation.hypotheses[0]
    assert {target for _, target in find_links(translation, hypothesis)} == set(range(4))
    assert len(hypothesis.attentions[0]) > 2 and not any(hypothesis.token_log_probabilities)


@pytest.mark.parametrize("before", ["", "Na re. "])
def test_words_between_marks_come_from_those_between_the_same_marks(before: str) -> None:
    memory = TranslationMemory()
    memory.add("Bade lu <b>ma ti</b> so.", "<b>Edab</b> ul am <i>so</i> bade.")
    (translation,) = recall_lines([f"{before}Bade lu ma ti so."], memory)
    traced = trace_translation(translation.source, translation)
    place, marked = traced.text.index("Edab"), range(len(before) + 8, len(before) + 13)
    assert traced.text.endswith("Edab ul am so bade.") and bool(place) == bool(before)
    inside = [index for index, origin in enumerate(traced.sources) if origin in marked]
    assert inside == list(range(place, place + 4))
    assert traced.find_part(marked.start, marked.stop) == (place, place + 4, False)
    assert traced.find_part(marked.start, marked.start + 2).is_guess  # type: ignore[union-attr]
    assert traced.find_part(len(before), len(traced.source)) == (place, len(traced.text), False)


DOCUMENTS = {  # the text, its edited translation, what is translated now, and what is written
    "two.html": (
        "We love our <b>clean</b> and <u>quiet</u> rooms.",
        "Wir lieben unsere <u>ruhigen</u> und <b>sauberen</b> Zimmer.",
    ),
    "inner.html": ("<b>Warn</b>ing: the water is hot!", "<b>Warn</b>ing: Das Wasser ist heiß!"),
    "link.md": (
        "Press [Start](a.md) and wait. Then press [Save](b.md).",
        "Mit [Speichern](b.md) endet es, mit [Starten](a.md) beginnt es.",
    ),
    "note.md": ("**Note**: it is hot.", "**Bitte beachten Sie**: Es ist heiß."),
    "runs.docx": (
        "Press|b| Start| button and wait 10 seconds. Then press |b|Save|.",
        "Drücken Sie auf |b|Starten| und warten Sie 10 Sekunden. Dann drücken Sie auf |b|Speichern|.",
    ),
    "parted.docx": ("Switch it |b|off| now.", "|b|Schalten| Sie es jetzt |b|aus|."),
    "seen.docx": ("Press |b|Start|.", "|l|Auf ||b|Starten||l| drücken|."),  # a person's program writes the language
    "inner.docx": ("|b|Warn|ing: the water is hot!", "|b|Warn|ing: Das Wasser ist heiß!"),
    "tags.po": ("<b>Warn</b>ing: the <i>water</i> is hot!", "<b>Warn</b>ung: Heißes <i>Wasser</i>!"),
}


def write_text_document(path: Path, text: str, target: str = "") -> Path:
    """Writes a document of one text, with runs between bars, as `of a |b|bold| word`."""
    runs = re.findall(r"\|(\w)\|([^|]*)\||([^|]+)", text)
    properties = {"": "", "b": "<w:rPr><w:b/></w:rPr>", "l": '<w:rPr><w:lang w:val="de-DE"/></w:rPr>'}
    spelled = (f'<w:r>{properties[name]}<w:t xml:space="preserve">{a or b}</w:t></w:r>' for name, a, b in runs)
    forms = {
        ".html": lambda: f"<p>{text}</p>\n".encode(),
        ".md": lambda: f"{text}\n".encode(),
        ".po": lambda: f'msgid "{text}"\nmsgstr "{target}"\n'.encode(),
        ".docx": lambda: make_docx(f"<w:p>{''.join(spelled)}</w:p>"),
    }
    path.write_bytes(forms[path.suffix]())
    return path


@pytest.mark.parametrize("name", DOCUMENTS)
def test_marks_go_where_a_person_has_put_them(bundled_translator: LineTranslator, tmp_path: Path, name: str) -> None:
    source, target = DOCUMENTS[name]
    old, edited = (write_text_document(tmp_path / f"{text}-{name}", text[0]) for text in ("old", "edited"))
    write_text_document(old, source)
    write_text_document(edited, target)
    pair = write_text_document(edited, source, target) if name.endswith(".po") else f"{old},{edited}"
    document = open_bytes(old.suffix[1:], old.read_bytes())
    written = b"".join(write_document(document, recall_with(bundled_translator, pair)))
    assert (show_document(written), document.notes) == (show_document(edited.read_bytes()), {})


def show_document(data: bytes) -> str:
    """Returns the text of a document with its marks; bold characters of a word processor in capitals."""
    if data[:2] != b"PK":
        return data.decode()
    runs = re.findall(r"<w:r>(.*?)</w:r>", unpack(data)["word/document.xml"].decode())
    shown = (re.sub(r"<.*?>", "", run) for run in runs)
    return "".join(text.upper() if "<w:b/>" in run else text for run, text in zip(runs, shown, strict=True))


@pytest.mark.parametrize(
    ("source", "target", "text", "notes"),
    [
        (
            "our <b>clean</b> and quiet rooms",
            "unsere sauberen Zimmer",
            "our <b>clean</b> and quiet rooms",
            [GUESSED_MARKS],
        ),
        ("our clean and quiet rooms", "unsere <b>sauberen</b> Zimmer", "our clean and quiet rooms", [LEFT_OUT_MARKS]),
        (
            "our <b>clean</b> and quiet rooms",
            "unsere <b>sauberen</b> Zimmer",
            "our clean and <b>quiet</b> rooms",
            [GUESSED_MARKS],
        ),
        ("our clean and quiet rooms", "unsere sauberen Zimmer", "our <b>clean</b> and quiet rooms", []),
    ],
)
def test_marks_that_a_memory_does_not_place_are_counted(
    bundled_translator: LineTranslator, tmp_path: Path, source: str, target: str, text: str, notes: list[str]
) -> None:
    old, edited = (write_text_document(tmp_path / f"{some[:3]}.html", some) for some in (source, target))
    document = open_bytes("html", f"<p>{text}</p>\n".encode())
    b"".join(write_document(document, recall_with(bundled_translator, f"{old},{edited}")))
    assert document.notes == Counter(notes)


def recall_with(translator: LineTranslator, tm: str | Path) -> Rule:
    """Returns how a text is translated with a memory."""
    options = TranslateOptions(SearchOptions(), memory=load_memory([tm], ("eng", "deu")))
    return lambda text: translator.translate([text], options)[0]


def test_the_network_reads_no_translation_far_longer_than_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    reader = "nmt_cli.translation.memory.recall.force_translations"
    monkeypatch.setattr(reader, lambda *given: [read.extend(given[2]), force_translations(*given)][1])
    memory, long = TranslationMemory(), " ".join(["edab"] * 500)
    memory.add("bade lu 3.", long)
    memory.add("ti so 3.", "os it 3.")
    translations = recall_lines(["bade lu 3.", "ti so 3."], memory)
    assert [translation.text for translation in translations] == [long, "os it 3."]
    assert read == ["os it 3."]


def test_a_part_of_a_sentence_is_not_taken_from_the_memory() -> None:
    """A line of many words is cut at commas; its parts are no sentences."""
    memory = TranslationMemory()
    memory.add("bade lu,", "NIE")
    line = ", ".join(["bade lu"] * 40)
    with_memory, without = (recall_lines([line], known)[0] for known in (memory, None))
    assert (with_memory.origin, with_memory.text) == ("network", without.text)


def test_what_a_person_translated_is_checked_and_needs_no_review() -> None:
    memory = TranslationMemory()
    memory.add("bade 1750 lu?", "edab 7150 ul")
    (translation,) = recall_lines(["bade 1750 lu?"], memory)
    kinds = [check.kind for check in translation.checks]
    assert "numbers" in kinds and "unseen words" not in kinds and not translation.needs_review
    assert translation._replace(origin="memory_numbers").needs_review


def test_words_that_a_person_chose_are_not_doubted_whole_or_beside_other_sentences() -> None:
    memory = TranslationMemory("deu")
    memory.add("Our landlords evicted the lodgers.", 'Hauswirte kündigten Schlafgängern, "Tom"')
    lines = ["Our landlords evicted the lodgers.", "Our landlords evicted the lodgers. Where is the station?"]
    options = TranslateOptions(SearchOptions(), checks=CheckOptions(), memory=memory)
    translations = TranslationRequest(MODEL, threads=1).load().translate(lines, options)
    assert [(each.origin, each.checks) for each in translations] == [("memory", ()), ("memory_part", ())]


MODEL = find_model(Path("eng-deu"))
ENTRY = ("The lodger pays on Monday.", "Der Untermieter zahlt am Montag.")


@pytest.fixture(scope="module")
def bundled_translator() -> LineTranslator:
    return TranslationRequest(MODEL, threads=1).load()


def translate(
    translator: LineTranslator,
    lines: list[str],
    *entries: tuple[str, str],
    register: str | None = None,
    **search: object,
) -> list[Translation]:
    memory = TranslationMemory("deu")
    for entry in entries:
        memory.add(*entry, register=register)
    config = SearchOptions(**search)
    return translator.translate(lines, TranslateOptions(config, repair=RepairOptions(), memory=memory))


def describe(translations: list[Translation]) -> list[object]:
    """All numbers of the hypotheses too."""
    return [
        [(each.text, each.score, each.tokens, each.token_log_probabilities) for each in translation.hypotheses]
        for translation in translations
    ]


ENTRIES = (
    ENTRY,
    ("The window is open.", "Das Programmfenster ist offen."),
    ("The <b>%s</b> ledger is locked.", "Das Kassenbuch <b>%s</b> ist gesperrt."),
)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("The lodger is strict.", "Untermieter"),
        ("THE WINDOW IS CLOSED.", "PROGRAMMFENSTER"),
        ("The <i>{name}</i> ledger is old.", "Kassenbuch <i>{name}</i>"),
    ],
)
@pytest.mark.parametrize("search", [{"beam_size": 1}, {"n_best": 3}, {"no_repeat_ngram": 2}], ids=str)
def test_a_word_of_an_entry_is_translated_as_there(
    bundled_translator: LineTranslator, line: str, word: str, search: dict[str, object]
) -> None:
    (guided,), (alone,) = (translate(bundled_translator, [line], *some, **search) for some in (ENTRIES, []))
    assert word in guided.text and word not in alone.text
    assert guided.origin == "network"


@pytest.mark.parametrize("line", ["The invoice is right.", "THE INVOICE IS LOST.", "The invoice is on the table."])
def test_what_an_entry_says_of_a_word_that_a_line_lacks_is_not_written(
    bundled_translator: LineTranslator, line: str
) -> None:
    entries = [
        ("The invoice is wrong.", "Die Rechnung stimmt nicht."),
        ("Please print the invoice.", "Bitte drucken Sie die Rechnung aus."),
    ]
    (guided,) = translate(bundled_translator, [line], *entries)
    words = guided.text.lower().split()
    assert "rechnung" in words and not {"nicht", "nicht.", "bitte", "drucken", "aus", "aus."}.intersection(words)


def test_a_token_guides_sources_that_have_what_it_attends_to() -> None:
    """Ids 5 6 7 with translations 15 16 17, the last first; 15 and 16 are a word."""
    begins, attended, source = np.array([True, True, False]), np.array([2, 0, 1]), np.array([5, 6, 7])
    tokens = StoredTokens(np.zeros((3, 2)), np.array([17, 15, 16]), begins, attended, source)
    assert tokens.is_supported(np.array([7, 5, 9])).tolist() == [True, True, False]
    assert tokens.continued.tolist() == [-1, -1, 15]


@examples(10)
@given(
    lines=st.lists(
        st.sampled_from(["Where is my hat?", "Tom swam.", "We ate 3 fish; you ate none.", "Go!"]), min_size=1
    ),
    beam=st.sampled_from([1, 3]),
)
def test_a_line_without_a_word_in_common_stays_the_same_to_the_last_bit(
    bundled_translator: LineTranslator, lines: list[str], beam: int
) -> None:
    guided = translate(bundled_translator, ["The lodger is strict.", *lines], ENTRY, beam_size=beam, n_best=beam)
    alone = translate(bundled_translator, ["The lodger is strict.", *lines], beam_size=beam, n_best=beam)
    assert describe(guided[1:]) == describe(alone[1:])
    assert describe(guided[:1]) != describe(alone[:1])


def test_a_line_behind_a_known_one_is_read_as_without_a_memory(bundled_translator: LineTranslator) -> None:
    texts = ["I bought a new lamp.", "It is very nice.", "The table is old. It is expensive."]
    lines, memory = lay_out_lines(texts, windows=[ContextWindow((), (0, 1, 2))]), TranslationMemory("deu")
    memory.add(texts[0], "Ich habe einen Leuchter erstanden.")
    memory.add("The table is old.", "Die Tafel ist alt.")
    plain, known = (
        bundled_translator.translate(lines, TranslateOptions(SearchOptions(), memory=some)) for some in (None, memory)
    )
    assert plain[1].text != bundled_translator.translate(texts[1:2], TranslateOptions(SearchOptions()))[0].text
    assert [translation.text for translation in known] == [
        "Ich habe einen Leuchter erstanden.",
        plain[1].text,
        plain[2].text.replace("Der Tisch ist alt.", "Die Tafel ist alt."),
    ]


@pytest.mark.parametrize("search", [{"neighbours": 0}, {"register": "informal"}], ids=str)
def test_no_entry_guides_if_none_may_or_of_another_register(
    bundled_translator: LineTranslator, search: dict[str, object]
) -> None:
    guided, alone = (
        translate(bundled_translator, ["The lodger is strict."], *some, **search) for some in ([ENTRY], [])
    )
    assert describe(guided) == describe(alone)


def test_a_judge_ranks_guided_hypotheses(bundled_translator: LineTranslator) -> None:
    reverse = TranslationRequest(find_model(Path("deu-eng")), threads=1).load()
    judged = bundled_translator.with_judge(Judge(reverse))
    (guided,), (alone,) = (translate(judged, ["The lodger sleeps."], *some) for some in ([ENTRY], []))
    assert guided.text == "Der Untermieter schläft." != alone.text
    assert (guided.guides, alone.guides) == ((ENTRY,), ())


def test_an_ensemble_is_not_guided() -> None:
    ensemble = TranslationRequest(MODEL, (MODEL,), threads=1).load()
    guided, alone = (translate(ensemble, ["The lodger is strict."], *some, beam_size=1) for some in ([ENTRY], []))
    assert describe(guided) == describe(alone)


def test_a_guided_line_is_the_same_whatever_else_is_translated(bundled_translator: LineTranslator) -> None:
    lines = ["The lodger is strict.", "Our lodger was here on Monday, and on Sunday too.", "Does the lodger sing?"]
    together = translate(bundled_translator, lines, ENTRY)
    for line, translation in zip(lines, together, strict=True):
        assert describe(translate(bundled_translator, [line], ENTRY)) == describe([translation])


def test_samples_follow_the_mixture(bundled_translator: LineTranslator) -> None:
    sampling = SamplingOptions(sample=True, temperature=0.1)
    guided, alone = (
        translate(bundled_translator, ["The lodger is strict."], *some, n_best=8, sampling=sampling)
        for some in ([ENTRY], [])
    )
    counts = [sum("Untermieter" in each.text for each in some[0].hypotheses) for some in (guided, alone)]
    assert counts[0] > 4 and counts[1] == 0


def make_tokens(count: int) -> StoredTokens:
    return StoredTokens(np.zeros((0, 2)), *np.zeros((4, count), dtype=np.int64))


@given(st.lists(st.integers(1, MOST_STORED // 2), max_size=20))
def test_the_entries_of_last_are_remembered_within_bounds(lengths: list[int]) -> None:
    stored = StoredEntries.__new__(StoredEntries)  # without an engine
    stored.parts, stored.size = {}, 0
    for number, length in enumerate(lengths):
        stored.add((str(number), "", ()), [make_tokens(length)])
        assert stored.size == sum(len(part.tokens) for parts in stored.parts.values() for part in parts) <= MOST_STORED
        assert stored.find((str(number), "", ())) is not None
        stored.find(("0", "", ()))  # which is used again and again, and so stays
        assert ("0", "", ()) in stored.parts


def test_entries_with_the_rarest_words_come_first_and_few_are_read() -> None:
    near = NearTexts()
    for number in range(3 * MOST_COMPARED):
        near.add(f"the {number} frob" if number < 2 else f"the {number}")
    assert near.find_alike("frob the", 3, None) == ["the 1 frob", "the 0 frob"]  # `the` alone is too little
    assert len(near.find_alike("the", 10 * MOST_COMPARED, None)) == MOST_COMPARED
    assert near.find_alike("nobody", 3, None) == near.find_alike("", 3, None) == []


@pytest.mark.parametrize(
    ("text", "is_alike"), [("a b x y z", False), ("a b x y", True), ("a x y z", False), ("a", True), ("b", True)]
)
def test_an_entry_is_alike_that_shares_a_third_of_the_words(text: str, is_alike: bool) -> None:
    """Of two entries `a` has weight log 3/2, `b` and unknown words log 3: 1.50 of 4.80, 1.50 of 3.70, 0.41 of 3.70."""
    near = NearTexts()
    near.add("a b")
    near.add("a")
    assert ("a b" in near.find_alike(text, 2, None)) is is_alike


def test_what_training_has_often_weighs_little_in_a_small_memory(bundled_translator: LineTranslator) -> None:
    """Alone, the memory finds `did`, `you` and `for` as rare as the word in common."""
    assert bundled_translator.profile is not None
    memory, line = TranslationMemory("deu"), "Did you pay him for the lathe?"
    memory.add("The lathe is wrong.", "Die Drehbank stimmt nicht.")
    assert memory.find_alike(line, 8, None) == []
    assert memory.find_alike(line, 8, bundled_translator.profile.source) == ["The lathe is wrong."]


@pytest.mark.parametrize("count", [0, 8])
def test_the_number_of_neighbours_is_an_option_of_functions(count: int, tmp_path: Path) -> None:
    memory = tmp_path / "memory.tsv"
    memory.write_text("\t".join(ENTRY) + "\n", encoding="utf-8")
    translator = nmt.load(MODEL, tm=memory, beam_size=1, threads=1)
    assert ("Untermieter" in translator.translate("The lodger is strict.", neighbours=count)) is bool(count)
    assert "Untermieter" in translator.translate("The lodger is strict.")


def test_neighbours_without_a_memory_are_refused() -> None:
    refused = CliRunner().invoke(app, ["translate", "--model", str(MODEL), "--neighbours", "4"], input="a")
    assert refused.exit_code == 2 and "--neighbours needs --tm" in refused.output


JUNK = (
    "https://a.b",
    "${jndi}",
    "\\",
    "../../etc/passwd",
    "<![CDATA[",
    "{{7*7}}",
    "@x",
    "\x1b[31m",
    "x1.test/q1z",
    "%s^",
)


@examples(15)
@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from(JUNK), min_size=1, max_size=4), st.sampled_from(("", "red ", "walks "))),
        min_size=1,
        max_size=5,
    )
)
def test_a_text_is_translated_alike_beside_a_memory_of_junk(
    bundled_translator: LineTranslator, entries: list[tuple[list[str], str]]
) -> None:
    """What an entry has beside words of a language says nothing, and never appears in another text."""
    lines = [
        "To red walks https://x1002.test/q1002z now.",
        "See https://a.test/b for the key.",
        "It is https: or test.",
    ]
    junk = [(f"Zq {word}https://x.test/q1z {''.join(some)}", f"Zs {''.join(some)}{some[0]}") for some, word in entries]
    alone = describe(translate(bundled_translator, lines, beam_size=1))
    assert describe(translate(bundled_translator, lines, *junk, beam_size=1)) == alone


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        ("https://a.test/b", False),
        ("Test https://b.test/c", False),
        ("https: it tests 3", False),
        ("THE LEDGER 3", True),
        ("The ledger of https://b.test", True),
    ],
)
def test_addresses_codes_and_numbers_make_no_text_alike(text: str, alike: bool) -> None:
    near = NearTexts()
    near.add("Ledger https://x.test/c 3 {0}")
    assert bool(near.find_alike(text, 8, None)) == alike


def test_requests_with_glossaries_of_their_own_read_entries_by_one_graph(bundled_translator: LineTranslator) -> None:
    """A graph for each would take time and memory for every request of a server."""
    terms = [Glossary({"strict": word}) for word in ("streng", "hart")]
    stores = [bundled_translator.with_glossary(glossary).stored_entries for glossary in terms]
    assert None not in stores and stores[0] is not stores[1]
    assert len({id(store.engine) for store in stores if store is not None}) == 1


@pytest.mark.parametrize(
    ("terms", "line", "written", "others"),
    [
        ({"flat": "Wohnung"}, "The flat is small.", "Die Wohnung ist klein.", ()),
        ({"flat": "Appartement"}, "The flat is small.", "Appartement", ()),
        ({"bank": "Bank"}, "We walked along the river bank.", "Bank", ("bank",)),
        ({"bank": "Bank", "bank holiday": "Feiertag"}, "Monday is a bank holiday.", "Feiertag", ()),
        ({"bank": "Bank", "flat": "Wohnung"}, "Our flat is near the river bank.", "Unsere Wohnung", ("bank",)),
    ],
)
def test_terms_are_read_as_words_where_the_network_writes_them_and_doubted_where_it_should(
    terms: dict[str, str], line: str, written: str, others: tuple[str, ...], bundled_translator: LineTranslator
) -> None:
    translator = bundled_translator.with_glossary(Glossary(terms))
    options = TranslateOptions(SearchOptions(), repair=RepairOptions(), checks=CheckOptions())
    (translation,) = translator.translate([line], options)
    assert written in translation.text and translation.other_senses == others
    senses = [check.message for check in translation.checks if check.kind == "terms"]
    assert senses == ["bank may have another sense here; add the whole expression to the glossary"] * len(others)
