import io
import re

import polib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.carrying.kinds import KINDS, find_spans
from nmt_cli.carrying.spans import SpanKind
from nmt_cli.carrying.syntax import has_same_placeholders
from nmt_cli.documents import open_document
from nmt_cli.documents.config import DocumentOptions
from nmt_cli.documents.document import DocumentSource
from nmt_cli.documents.po import load_plural_forms
from nmt_cli.errors import DataError
from nmt_cli.translation.memory.lookup import TranslationMemory
from nmt_cli.translation.result import FailedCheck, Translation
from support.documents import convert_bytes
from support.names import CONTEXT
from support.translations import aligned, converted, louder

HEADER = (
    'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Plural-Forms: nplurals={}; plural=0;\\n"\n\n'
)
CATALOGUE = f"""# made by hand
{HEADER.format(2)}#. hint
#: b.py:2 a.py:1
msgid "hello world"
msgstr ""

#, python-format
msgid "%d apple"
msgid_plural "%d apples"
msgstr[0] ""
msgstr[1] ""

msgctxt "menu"
msgid "open"
msgstr "Öffnen"

#, fuzzy
#| msgid "old"
msgid "new day"
msgstr "alt"

msgid ""
"one. Two \\"x\\".\\n"
"  three\\n"
msgstr ""

#~ msgid "gone"
#~ msgstr "weg"
"""


def test_only_what_has_no_translation_gets_one_and_all_else_stays() -> None:
    written, notes = converted("po", CATALOGUE)
    expected = (
        CATALOGUE.replace('msgid "hello world"\nmsgstr ""', 'msgid "hello world"\nmsgstr "HELLO WORLD"')
        .replace("#, python-format", "#, fuzzy, python-format")
        .replace('msgstr[0] ""\nmsgstr[1] ""', 'msgstr[0] "%D APPLE"\nmsgstr[1] "%D APPLES"')
        .replace('"  three\\n"\nmsgstr ""', '"  three\\n"\nmsgstr ""\n"ONE. TWO \\"X\\".\\n"\n"  THREE\\n"')
    )
    assert written == expected
    assert list(notes.values()) == [1, 1]  # a placeholder was lost (%d became %D), a fuzzy translation was kept


def test_what_a_memory_has_is_not_divided_and_not_fuzzy() -> None:
    memory = TranslationMemory("de")
    memory.add("one. Two\nthree 5.", "eins, zwei.\ndrei.")
    text = HEADER.format(2) + 'msgid ""\n"one. Two\\n"\n"three 5.\\n"\nmsgstr ""\n'
    source = DocumentSource(io.BytesIO(text.encode()), "x.po", DocumentOptions(), "de", memory=memory)
    _, unit, _, ending = open_document("po", source).read_units()
    assert unit.texts == ("one. Two\nthree 5.",)
    recalled = aligned(unit.texts[0], ["eins, zwei.\ndrei."], [0])._replace(origin="memory")
    unit.write([recalled._replace(checks=(FailedCheck("numbers", "number 5 missing"),))])
    assert str(ending.write(())).endswith(
        text.partition("\n\n")[2].replace('msgstr ""', 'msgstr ""\n"eins, zwei.\\n"\n"drei.\\n"')
    )


def test_a_translation_that_keeps_its_placeholder_is_not_fuzzy() -> None:
    entry = '#, python-format\nmsgid "%d apple"\nmsgid_plural "%d apples"\nmsgstr[0] ""\nmsgstr[1] ""\n'
    written, notes = converted("po", HEADER.format(2) + entry, lambda text: aligned(text, ["%d", "Obst"], [0, 1]))
    assert written.endswith("#, python-format\n" + entry.split("\n", 1)[1].replace('""', '"%d Obst"'))
    assert notes == {}


@pytest.mark.parametrize(("flag", "fuzzy"), [("", True), ("#, no-c-format\n", False)])
def test_a_lost_placeholder_makes_a_message_fuzzy_unless_it_may_have_none(flag: str, fuzzy: bool) -> None:
    written, notes = converted("po", flag + 'msgid "hello {name}"\nmsgstr ""\n')
    assert polib.pofile(written)[0].fuzzy == fuzzy
    assert len(notes) == fuzzy


@pytest.mark.parametrize(
    ("forms", "expected"), [(1, ["APPLES"]), (2, ["APPLE", "APPLES"]), (3, ["APPLE", "APPLES", "APPLES"])]
)
def test_each_plural_form_is_filled_and_more_than_two_are_fuzzy(forms: int, expected: list[str]) -> None:
    text = HEADER.format(forms) + 'msgid "apple"\nmsgid_plural "apples"\nmsgstr[0] ""\n'
    entry = polib.pofile(converted("po", text)[0])[0]
    assert list(entry.msgstr_plural.values()) == expected
    assert entry.fuzzy == (forms > 2)


def test_all_is_translated_anew_where_asked_and_is_then_not_fuzzy() -> None:
    entries = polib.pofile(converted("po", CATALOGUE, retranslate=True)[0])
    messages = {
        entry.msgid: (entry.msgstr, entry.fuzzy, entry.previous_msgid) for entry in entries if not entry.obsolete
    }
    assert messages["open"] == ("OPEN", False, None)
    assert messages["new day"] == ("NEW DAY", False, None)
    assert [entry.msgstr for entry in entries if entry.obsolete] == ["weg"]


def test_an_indented_entry_is_one() -> None:
    text = (
        HEADER.format(2)
        + 'msgid "a b"\nmsgstr ""\n\n  #, fuzzy\n  msgid "c d"\n  msgstr ""\n\nmsgid "e f"\nmsgstr ""\n'
    )
    messages = {entry.msgid: entry.msgstr for entry in polib.pofile(converted("po", text)[0])}
    assert messages == {"a b": "A B", "c d": "C D", "e f": "E F"}


@pytest.mark.parametrize(
    ("source", "translation", "expected"),
    [("One two. Three.", "你好。", "你好。你好。"), ("你好。你好。", "Hi there.", "Hi there. Hi there.")],
)
def test_sentences_are_joined_as_their_script_wants(source: str, translation: str, expected: str) -> None:
    rule = lambda text: aligned(text, translation.split(), [0] * len(translation.split()))  # noqa: E731
    assert polib.pofile(converted("po", f'msgid "{source}"\nmsgstr ""\n', rule)[0])[0].msgstr == expected


def test_what_is_no_catalogue_is_refused() -> None:
    with pytest.raises(DataError, match=r"x\.po, line 2"):
        converted("po", 'msgid "a"\nwhat\n')


def test_an_empty_catalogue_and_one_of_a_header_stay() -> None:
    assert converted("po", "")[0] == ""
    assert converted("po", HEADER.format(2))[0] == HEADER.format(2)


def failing(text: str) -> Translation:
    """The text in capitals, which fails two checks if there is a digit in it."""
    failed = (
        (FailedCheck("numbers", "number 7 missing"), FailedCheck("final mark", "final .\nbecame !"))
        if "7" in text
        else ()
    )
    return louder(text)._replace(checks=failed)


ENTRY = '# by hand\n#. extracted\n#: a.c:1\nmsgctxt "x"\nmsgid "Take 7."\nmsgstr ""\n'


def test_a_message_that_fails_a_check_is_fuzzy_and_a_comment_says_why() -> None:
    text, notes = converted("po", f'{HEADER}\n{ENTRY}\nmsgid "Stay."\nmsgstr ""\n', failing)
    assert text.endswith(
        "# by hand\n# nmt: number 7 missing\n# nmt: final . became !\n#. extracted\n#: a.c:1\n#, fuzzy\n"
        'msgctxt "x"\nmsgid "Take 7."\nmsgstr "TAKE 7."\n\nmsgid "Stay."\nmsgstr "STAY."\n'
    )
    assert list(notes.values()) == [1]
    flagged, plain = polib.pofile(text)
    assert (flagged.fuzzy, plain.fuzzy) == (True, False)
    assert flagged.tcomment == "by hand\nnmt: number 7 missing\nnmt: final . became !"


def test_a_new_translation_replaces_the_remarks_about_the_old_one() -> None:
    once = converted("po", f"{HEADER}\n{ENTRY}", failing)[0]
    assert converted("po", once, failing, retranslate=True)[0] == once
    better = converted("po", once, louder, retranslate=True)[0]
    assert "nmt:" not in better and "fuzzy" not in better and "# by hand\n#. extracted\n" in better


def test_low_confidence_makes_a_message_fuzzy_and_is_no_part_of_its_text() -> None:
    failed = FailedCheck("confidence", "confidence 0.10 is below 0.5")

    def doubt(text: str) -> Translation:
        return louder(text)._replace(checks=(failed,), replacement=f"[?] {text.upper()}")

    text = converted("po", f'{HEADER}\nmsgid "Stay. Go."\nmsgstr ""\n', doubt)[0]
    assert text.endswith(
        "# nmt: confidence 0.10 is below 0.5 in: Stay. -> STAY.\n# nmt: confidence 0.10 is below 0.5 in: Go. -> GO.\n"
        '#, fuzzy\nmsgid "Stay. Go."\nmsgstr "STAY. GO."\n'
    )
    text = converted("po", f'{HEADER}\nmsgid "Stay."\nmsgstr ""\n', doubt)[0]
    assert "# nmt: confidence 0.10 is below 0.5\n" in text


def test_all_new_translations_are_fuzzy_where_that_is_wanted() -> None:
    text = converted("po", f'{HEADER}\nmsgid "Stay."\nmsgstr ""\n\nmsgid "Go."\nmsgstr "Los."\n', fuzzy=True)[0]
    assert [entry.fuzzy for entry in polib.pofile(text)] == [True, False]


@pytest.mark.parametrize("count", ["0", "10", "999999999", "9" * 5_000])
def test_an_impossible_number_of_forms_is_ignored(count: str) -> None:
    text = HEADER.format(count) + 'msgid "dog"\nmsgid_plural "dogs"\nmsgstr[0] ""\nmsgstr[1] ""\nmsgstr[2] ""\n'
    assert converted("po", text)[0].count("DOGS") == 2


MARKED = 'msgid ""\nmsgstr ""\n"X-Accelerator-Marker: {}\\n"\n\n'


NAMED = st.from_regex(r"[a-z]{1,8}", fullmatch=True)
WHOLE = (  # what has a sign inside, and is no entry of a menu
    "{{{}_{}}}",
    "%({}_{})s",
    "https://example.com/{}_{}",
    "https://example.com/?{}=1&{}=2",
    "{}_{}@example.com",
    "--{}_{}",
    "<a href='{}_{}.html'>",
    "`{}_{}`",
    "{}_{}",
    "?{}=x&{}=y",
    "/usr/{}_{}",
    "{}~{}",
)


@given(
    *(st.sampled_from(WHOLE), NAMED, NAMED),
    st.sampled_from(["{}", "{} is here.", "Open {} now", "Read ({}) first"]),
    st.sampled_from(["", MARKED.format("_"), MARKED.format("~")]),
)
def test_what_has_a_sign_inside_is_handed_on_as_it_stands(
    form: str, first: str, last: str, frame: str, header: str
) -> None:
    whole = form.format(first, last)
    if "~" in whole and "~" in header:
        header = ""
    text = frame.format(whole)
    source = DocumentSource(
        io.BytesIO(f'{header}msgid "{text}"\nmsgstr ""\n'.encode()), "x.po", DocumentOptions(), "de"
    )
    texts = [text for unit in open_document("po", source).read_units() for text in unit.texts]
    assert not texts or whole in " ".join(texts)
    spans = find_spans(text, CONTEXT, KINDS)
    assert all(span.kind is not SpanKind.ACCELERATOR for span in spans)


@pytest.mark.parametrize(
    ("source", "translation", "same"),
    [
        ("%<n>d of %{m}", "%{m}: %<n>d", True),
        ("%<n>d of %{m}", "%{m}", False),
        ("%1 and %n", "%n und %1", True),
        ("%1 and %L2", "%1 und %2", False),
        ("%|1$5| is %2%", "%2% ist %|1$5|", True),
        ("$t(a.b) and {{c}}", "{{c}}", False),
        ("{n, plural, one {# day} other {# days}}", "{n, plural, one {# Tag} other {# Tage}}", True),
        ("{n, plural, one {# day} other {# days}}", "n, plural, one # Tag, other # Tage", False),
        ("{n, plural, one {# day} other {# days}}", "{n, plural, eins {# Tag} other {# Tage}}", False),
        ("{a}: {n, plural, one {day} other {days}}", "{n, plural, one {{a}: Tag} other {{a}: Tage}}", True),
    ],
)
def test_lost_placeholders_of_every_syntax_are_noticed(source: str, translation: str, same: bool) -> None:
    assert has_same_placeholders(source, translation) is same


TEMPLATE = """# SOME DESCRIPTIVE TITLE.
#
#, fuzzy
msgid ""
msgstr ""
"Project-Id-Version: PACKAGE\\n"
"Language: \\n"
"Content-Type: text/plain; charset=CHARSET\\n"
"Plural-Forms: nplurals=INTEGER; plural=EXPRESSION;\\n"

#, fuzzy
msgid "hello"
msgstr ""
"""


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("language", "code", "forms"),
    [
        ("deu", "de", "nplurals=2; plural=(n != 1);"),
        ("ja", "ja", "nplurals=1; plural=0;"),
        ("quy", "quy", "nplurals=INTEGER; plural=EXPRESSION;"),
    ],
)
def test_the_header_of_a_template_is_filled_in(language: str, code: str, forms: str, line_end: str) -> None:
    written = convert_bytes("po", TEMPLATE.replace("\n", line_end).encode(), louder, language).decode()
    expected = TEMPLATE.replace("#\n#, fuzzy\n", "#\n").replace("Language: ", f"Language: {code}", 1)
    expected = expected.replace("CHARSET", "UTF-8").replace("nplurals=INTEGER; plural=EXPRESSION;", forms)
    assert written.replace(line_end, "\n").startswith(expected.split("#, fuzzy")[0])
    assert written.count(line_end) == written.count("\n")


@pytest.mark.parametrize(("declared", "expected"), [("en", "de"), ("en_GB", "de"), ("de", "de"), ("fr", "fr")])
def test_the_language_of_the_source_becomes_that_of_the_translation(declared: str, expected: str) -> None:
    text = TEMPLATE.replace("CHARSET", "UTF-8").replace("Language: ", f"Language: {declared}")
    assert f'"Language: {expected}\\n"' in convert_bytes("po", text.encode(), louder).decode()


def test_a_header_that_is_filled_in_stays() -> None:
    text = TEMPLATE.replace("CHARSET", "UTF-8")
    assert convert_bytes("po", text.encode(), louder).decode().startswith(text.split('#, fuzzy\nmsgid "hello')[0])


def test_plural_forms_are_well_formed() -> None:
    forms = load_plural_forms()
    assert all(re.fullmatch(r"nplurals=[1-6]; plural=[n\d%=!<>&|?:() ]+;", value) for value in forms.values())
