"""Tests of exchange: translation memories: units get a variant in the target language, and nothing else changes."""

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nmt_cli.errors import DataError
from nmt_cli.languages.codes import has_same_primary_tag
from nmt_cli.translation.result import FailedCheck, Origin, Translation
from support.documents import convert_bytes, echo_document, list_texts, open_bytes, write_document
from support.formats import TMX, rows
from support.translations import Rule, aligned, backwards, louder, same

FIRST_VERSION = """<?xml version="1.0" encoding="UTF-8"?>
<!-- exported -->
<xliff xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2" xmlns:x='y'>
  <file original="a.c" source-language="en-US" target-language="de-DE" datatype="plaintext">
    <header><note>Not this</note></header>
    <body>
      <group id="g" translate="no"><trans-unit id="0"><source>Brand</source></trans-unit></group>
      <trans-unit id="1" resname='a'>
        <source>Open &quot;this&quot; <g id="1" ctype="bold">red</g>  file&#8230;</source>
        <note>A hint</note>
      </trans-unit>
      <trans-unit id="2"><source>Already done</source><target state="final">Schon fertig</target></trans-unit>
      <trans-unit id="3"><source>Hi <x id="INTERPOLATION" equiv-text="{{name}}"/>, go<bx id="2"/> on<ex rid="2"/>
        </source>
        <target/>
        <alt-trans><source>Other</source><target>Anderes</target></alt-trans>
      </trans-unit>
      <trans-unit id="4" translate="no"><source>Keep this</source></trans-unit>
      <trans-unit id="5"><source>A copy</source><target state="new">A copy</target></trans-unit>
      <trans-unit id="6"><source><![CDATA[Plain <b>text</b> here]]></source></trans-unit>
      <trans-unit id="7"><source>See <ph id="1">&lt;i a="<sub>a boat</sub>"&gt;</ph> and
        <mrk mtype="protected">Acme</mrk></source></trans-unit>
      <trans-unit id="8"><source>123</source></trans-unit>
    </body>
  </file>
</xliff>
"""
SECOND_VERSION = """<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en" trgLang="de">
 <file id="f1"><unit id="1">
  <originalData><data id="d1">&lt;b></data><data id="d2">%d</data></originalData>
  <segment id="s1">
   <source>Read <pc id="1" dataRefStart="d1">all <mrk id="m" translate="no">Acme</mrk></pc> now</source></segment>
  <ignorable><source> </source></ignorable>
  <segment state="initial">
   <source>You have <ph id="2" dataRef="d2"/> letters.</source>
   <target></target>
  </segment>
  <segment state="final"><source>Yes</source><target>Ja</target></segment>
 </unit></file>
</xliff>
"""
TRADOS = """<?xml version="1.0" encoding="utf-8"?><xliff xmlns:sdl="http://sdl.com/FileTypes/SdlXliff/1.0" \
xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2" sdl:version="1.0"><file original="a.docx" \
source-language="en-GB" target-language="de-DE"><body><trans-unit id="u1">\
<source><g id="5">One ship. Two boats.</g></source>\
<seg-source><g id="5"><mrk mtype="seg" mid="1">One ship.</mrk> \
<mrk mtype="seg" mid="2">Two boats.</mrk></g></seg-source>\
<target><g id="5"><mrk mtype="seg" mid="1">Ein Schiff.</mrk> <mrk mtype="seg" mid="2"/></g></target>\
<sdl:seg-defs><sdl:seg id="1" conf="ApprovedSignOff"/><sdl:seg id="2"/></sdl:seg-defs>\
</trans-unit></body></file></xliff>"""


PAIR = re.compile(r"<source>((?:(?!</source>).)*)</source>\s*<target[^>]*>(.*?)</target>", re.DOTALL)


def bare(text: str) -> str:
    """The file without what a translation adds: targets, states, and the target's language."""
    text = re.sub(r"\s*<target[^>]*/>|\s*<target\b.*?</target>", "", text, flags=re.DOTALL)
    return re.sub(r'\s+(?:state|subState|conf|origin|trgLang|target-language)="[^"]*"', "", text)


@pytest.mark.parametrize("text", [FIRST_VERSION, SECOND_VERSION, TRADOS])
@pytest.mark.parametrize("retranslate", [False, True])
def test_all_but_the_targets_and_states_stays_byte_for_byte(text: str, retranslate: bool) -> None:
    for written in (
        echo_document("xliff", text.encode(), retranslate=retranslate),
        convert_bytes("xliff", text.encode(), louder, retranslate=retranslate),
    ):
        assert bare(written.decode()) == bare(text)


@pytest.mark.parametrize("text", [FIRST_VERSION, SECOND_VERSION])
def test_where_the_translation_equals_the_source_the_target_does_too(text: str) -> None:
    written = echo_document("xliff", text.encode(), retranslate=True).decode()
    pairs = re.findall(PAIR, written)
    assert len(pairs) >= 3
    for source, target in pairs:
        assert source == target or (source, target) == ("Other", "Anderes")


def test_only_what_has_no_translation_is_translated() -> None:
    assert list_texts("xliff", FIRST_VERSION.encode()) == [
        'Open "this" red file…',
        "Hi {1}, go on",
        "A copy",
        "Plain <b>text</b> here",
        "See  and {1}",
        "a boat",
    ]
    assert list_texts("xliff", SECOND_VERSION.encode()) == ["Read all {1} now", "You have {1} letters."]
    assert list_texts("xliff", TRADOS.encode()) == ["Two boats."]
    assert list_texts("xliff", TRADOS.encode(), retranslate=True) == ["One ship.", "Two boats."]


def test_the_target_stands_behind_its_source_with_its_state() -> None:
    written = convert_bytes("xliff", FIRST_VERSION.encode(), louder).decode()
    assert (
        '<g id="1" ctype="bold">red</g>  file&#8230;</source>\n        <target state="translated">OPEN &quot;THIS&quot;'
        ' <g id="1" ctype="bold">RED</g>  FILE&#8230;</target>\n        <note>A hint</note>'
    ) in written
    assert '<target state="translated"><![CDATA[PLAIN <B>TEXT</B> HERE]]></target>' in written
    assert '<target state="translated">HI <x id="INTERPOLATION" equiv-text="{{name}}"/>, GO<bx id="2"/> ON' in written
    written = convert_bytes("xliff", SECOND_VERSION.encode(), louder).decode()
    assert '<segment state="translated">\n   <source>You have <ph id="2" dataRef="d2"/> letters.</source>' in written
    assert '<target>YOU HAVE <ph id="2" dataRef="d2"/> LETTERS.</target>' in written


def test_segments_of_trados_keep_what_they_have() -> None:
    written = convert_bytes("xliff", TRADOS.encode(), louder).decode()
    assert (
        '<target><g id="5"><mrk mtype="seg" mid="1">Ein Schiff.</mrk> <mrk mtype="seg" mid="2">TWO BOATS.</mrk></g>'
        '</target><sdl:seg-defs><sdl:seg id="1" conf="ApprovedSignOff"/>'
        '<sdl:seg id="2" conf="Translated" origin="mt"/></sdl:seg-defs>'
    ) in written


def test_a_guess_is_marked_for_review() -> None:
    unit = '<trans-unit id="1"><source>Press <g id="1">Start</g></source></trans-unit>'
    text = f'<xliff version="1.2"><file source-language="en" target-language="de">{unit}</file></xliff>'
    document = open_bytes("xliff", text.encode())
    rule: Rule = lambda source: aligned(source, ["Drücken"], [0])  # noqa: E731
    written = b"".join(write_document(document, rule)).decode()
    assert '<target state="needs-review-translation">Drücken' in written
    assert written.count('<g id="1">') == 2
    second = text.replace("1.2", "2.1").replace("trans-unit", "segment").replace("<g ", "<pc ").replace("</g>", "</pc>")
    assert 'state="translated" subState="nmt:needs-review"' in convert_bytes("xliff", second.encode(), rule).decode()


def test_a_translation_that_fails_a_check_is_marked_for_review() -> None:
    unit = '<trans-unit id="1"><source>7 boats</source></trans-unit>'
    text = f'<xliff version="1.2"><file source-language="en" target-language="de">{unit}</file></xliff>'
    failed = FailedCheck("numbers", "number 7 missing")
    written = convert_bytes("xliff", text.encode(), lambda source: louder(source)._replace(checks=(failed,)))
    assert '<target state="needs-review-translation">7 BOATS</target>' in written.decode()
    written = convert_bytes("xliff", text.encode(), louder, fuzzy=True)
    assert '<target state="needs-review-translation">7 BOATS</target>' in written.decode()


def test_little_confidence_is_a_state_not_a_part_of_the_text() -> None:
    unit = '<trans-unit id="1"><source>see</source></trans-unit>'
    text = f'<xliff version="1.2"><file source-language="en" target-language="de">{unit}</file></xliff>'
    failed = FailedCheck("confidence", "confidence 0.10 is below 0.5")
    written = convert_bytes(
        "xliff", text.encode(), lambda source: louder(source)._replace(checks=(failed,), replacement="[?] SEE")
    )
    assert '<target state="needs-review-translation">SEE</target>' in written.decode()


def test_what_a_person_translated_needs_review_only_if_its_numbers_changed() -> None:
    failed = (FailedCheck("numbers", "number 5 missing"),)

    def recall(text: str) -> Translation:
        origin: Origin = "memory" if text == "one" else "memory_numbers"
        return louder(text)._replace(checks=failed, origin=origin)

    units = "".join(f'<trans-unit id="{text}"><source>{text}</source></trans-unit>' for text in ("one", "two"))
    text = f'<xliff version="1.2"><file source-language="en" target-language="de">{units}</file></xliff>'
    written = convert_bytes("xliff", text.encode(), recall).decode()
    assert re.findall(r'state="([\w-]+)"', written) == ["translated", "needs-review-translation"]


def test_files_in_other_languages_are_left_or_refused() -> None:
    file = (
        '<file source-language="en" target-language="{0}"><trans-unit id="1"><source>Yes</source></trans-unit></file>'
    )
    both = f'<xliff version="1.2">{file.format("fr")}{file.format("de-AT")}</xliff>'
    document = open_bytes("xliff", both.encode())
    assert b"".join(write_document(document, louder)).decode().count("<target") == 1
    assert list(document.notes.elements()) == ["units left unchanged, in a <file> of other languages"]
    with pytest.raises(DataError, match="the file is en -> fr, but the model translates en -> de"):
        convert_bytes("xliff", f'<xliff version="1.2">{file.format("fr")}</xliff>'.encode(), louder)


def test_a_file_without_a_target_language_gets_that_of_the_model() -> None:
    text = '<xliff version="1.2"><file source-language="en" original="x"></file></xliff>'
    assert convert_bytes("xliff", text.encode(), louder, "deu").decode() == text.replace(
        ' original="x">', ' original="x" target-language="de">'
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("<xliff><file>", "line 1: not valid XML"),
        ('<!DOCTYPE x [<!ENTITY a "b">]>\n<xliff>&a;</xliff>', "the file declares entities"),
        ("<a>" * 300 + "</a>" * 300, "more than 200 nested elements"),
        ('<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>\n<xliff>&a;</xliff>', "the file declares entities"),
    ],
)
def test_what_is_not_safe_is_refused(text: str, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        echo_document("xliff", text.encode())


CONTENT = st.recursive(
    st.text(st.sampled_from("ab ."), max_size=8)
    | st.sampled_from(
        ["<x id='1'/>", "&amp;", "one two", "<ph id='2'>{x}</ph>", "<bpt id='3'>b</bpt>", "\n  ", "é&#160;"]
    ),
    lambda inner: st.tuples(st.sampled_from(["g", "mrk"]), st.lists(inner, max_size=3)).map(
        lambda pair: f"<{pair[0]}>{''.join(pair[1])}</{pair[0]}>"
    ),
    max_leaves=8,
)


@example(["<g>a<g> <g> </g> </g></g>"])
@given(st.lists(CONTENT, max_size=4))
def test_any_unit_keeps_its_elements(contents: list[str]) -> None:
    units = "".join(f"<trans-unit><source>{content}</source></trans-unit>" for content in contents)
    text = f'<xliff version="1.2"><file source-language="en" target-language="de">{units}</file></xliff>'
    written = echo_document("xliff", text.encode()).decode()
    assert bare(written) == bare(text)
    for source, target in re.findall(PAIR, written):
        assert source == target
    written = convert_bytes("xliff", text.encode(), same).decode()
    for source, target in re.findall(PAIR, written):
        assert sorted(re.findall("<[^>]*>", source)) == sorted(re.findall("<[^>]*>", target))


CODED = 'good <bpt i="1">&lt;b&gt;</bpt>day<ept i="1">&lt;/b&gt;</ept> &amp; night<ph>x</ph>'
EMPTY = f'<tu tuid="1">\n  <tuv xml:lang="en-US"><seg>{CODED}</seg></tuv>\n</tu>'
DONE = (
    '<tu><tuv xml:lang="en"><seg>done</seg></tuv><tuv xml:lang="de"><prop type="a">b</prop><seg>fertig</seg></tuv></tu>'
)
HALF = '<tu><tuv xml:lang="de"><seg/></tuv><tuv xml:lang="en"><seg>half <hi>way</hi></seg></tuv></tu>'
FRENCH = '<tu><tuv xml:lang="fr"><seg>rien</seg></tuv></tu>'
MEMORY = TMX.format("\n".join((EMPTY, DONE, HALF, FRENCH)))


def convert(text: str, **options: object) -> str:
    return convert_bytes("tmx", text.encode(), louder, **options).decode()


def test_only_what_is_missing_is_translated_and_the_rest_is_kept() -> None:
    assert list_texts("tmx", MEMORY.encode()) == ["good day & night", "half way"]
    text = 'GOOD <bpt i="1">&lt;b&gt;</bpt>DAY<ept i="1">&lt;/b&gt;</ept> &amp; NIGHT<ph>x</ph>'
    added = f'\n  <tuv xml:lang="de"><seg>{text}</seg></tuv>'
    filled = '<tu><tuv xml:lang="de"><seg>HALF <hi>WAY</hi></seg></tuv>'
    expected = MEMORY.replace("</seg></tuv>\n</tu>", f"</seg></tuv>{added}\n</tu>", 1)
    assert convert(MEMORY) == expected.replace('<tu><tuv xml:lang="de"><seg/></tuv>', filled)


def test_a_text_that_is_there_is_replaced_where_asked() -> None:
    assert '<prop type="a">b</prop><seg>DONE</seg></tuv>' in convert(MEMORY, retranslate=True)


def test_codes_follow_their_words() -> None:
    written = convert_bytes("tmx", MEMORY.encode(), backwards).decode()
    assert '<bpt i="1">&lt;b&gt;</bpt>DAY<ept i="1">&lt;/b&gt;</ept> GOOD' in written


def test_a_memory_of_other_languages_is_refused() -> None:
    assert not has_same_primary_tag("fr", "en")
    with pytest.raises(DataError, match="the file has the languages fr, but the model translates from en"):
        convert(TMX.format(FRENCH))


def test_of_several_variants_the_very_tag_comes_first_and_a_note_says_so() -> None:
    several = EMPTY.replace("<tuv xml:lang", '<tuv xml:lang="en-GB"><seg>good evening</seg></tuv><tuv xml:lang', 1)
    for language, text in (("en", "good evening"), ("en-US", "good day & night")):
        document = open_bytes("tmx", TMX.format(several).encode())
        document.source = document.source._replace(source_language=language)
        assert [text for unit in document.read_units() for text in unit.texts] == [text]
        assert list(document.notes.values()) == [1]


def test_an_empty_variant_with_a_note_of_a_program_is_none() -> None:
    noted = HALF.replace("<seg/>", '<prop type="a">b</prop><seg/>')
    assert list_texts("tmx", TMX.format(noted).encode()) == ["half way"]


def test_a_copy_of_the_source_that_is_still_to_be_adapted_is_no_translation_in_documents_and_pairs(
    tmp_path: Path,
) -> None:
    unit = '<trans-unit id="1"><source>See.</source><target state="needs-l10n">See.</target></trans-unit>'
    text = f'<xliff version="1.2"><file source-language="en" target-language="de">{unit}</file></xliff>'
    assert list_texts("xliff", text.encode()) == ["See."]
    assert [row.is_unfinished for row in rows(tmp_path / "a.xliff", text)] == [True]
    kept = text.replace("<trans-unit", "<bin-unit><trans-unit").replace("</trans-unit>", "</trans-unit></bin-unit>")
    assert list_texts("xliff", kept.encode()) == []
