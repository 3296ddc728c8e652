"""Codes of games, forums and markup touch words: each is a span byte for byte, and the words beside it are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.carrying.kinds import KINDS, find_spans
from nmt_cli.carrying.spans import Span, find_partners
from nmt_cli.carrying.syntax import find_placeholders, has_same_placeholders
from support.names import CONTEXT

PAIRS = (
    # Tags of games and forums, by what opens and what closes them.
    ("<color=red>", "</color>"),
    ("<size=12>", "</size>"),
    ('<link="x y">', "</link>"),
    ("<#ffcc00>", "</color>"),
    ("[b]", "[/b]"),
    ("[color=#f00]", "[/color]"),
    ("[url=https://example.org/a_b]", "[/url]"),
    ("{i}", "{/i}"),
    ("{size=+10}", "{/size}"),
    # Links of Markdown, references of reStructuredText, commands of LaTeX.
    ("[", "](https://example.org/a_(b))"),
    ("![", '](house.png "House")'),
    ("`", " <https://example.org>`_"),
    (":ref:`", " <house-name>`"),
    ('"', '":https://example.org/a_b'),
    (r"\textbf{", "}"),
    (r"\href{https://example.org}{", "}"),
    # Control codes that end where the next one begins.
    ("|cff00ff00", "|r"),
    ("§l", "§r"),
    (r"\C[2]", r"\C[0]"),
    (r"\033[1m", r"\033[0m"),
    ("~b~", "~w~"),
    # Quotes of LaTeX.
    ("``", "''"),
    # Links whose target is elsewhere, of wikis, Org, Slack and AsciiDoc; cards of Anki; marks of emphasis.
    ("[", "][1]"),
    ("![", "][the house]"),
    ("[", "][]"),
    ("[[House|", "]]"),
    ("[https://example.org ", "]"),
    ("[[https://example.org][", "]]"),
    ("<https://example.org|", ">"),
    ("https://example.org[", "]"),
    ("{{c1::", "}}"),
    ("{{c2::", "::a hint}}"),
    ("==", "=="),
    ("||", "||"),
)
# Before a word.
POINTS = ("%c", "§6", "§a§l", "&6", "&a", "^1", "@1", "~r~", r"\e[31m", r"\u001b[0m", r"\I[64]", "{$n}", "{0}")
ENDS = (r"\!", r"\|", "@2", "{w}", "{w=0.5}", "|r", "[^1]", "~s~")  # behind a sentence


def test_a_command_around_a_text_is_no_placeholder_but_counts() -> None:
    assert find_placeholders(r"Read the \textbf{old} {name}") == [r"\textbf{", "{name}"]
    assert has_same_placeholders(r"The \emph{old} house", r"Das \emph{alte} Haus")
    assert not has_same_placeholders(r"The \emph{old} house", "Das alte Haus")
    assert has_same_placeholders("The {{c1::old::age}} house", "Das {{c1::alte::age}} Haus")
    assert not has_same_placeholders("The [old][1] house", "Das [alte] Haus")
    assert not has_same_placeholders("CLICK [HERE][1] TO START", "KLICKE [HIER] ZUM STARTEN")
    assert not has_same_placeholders("SEE [THE OLD][house].", "SIEHE [DAS ALTE].")
    assert find_placeholders("Dear [NAME][TITLE], [ui][v2] It rains") == []


def find(text: str) -> list[Span]:
    return find_spans(text, CONTEXT, KINDS)


@given(
    st.sampled_from(PAIRS), st.sampled_from(["house", "the house", "House and net"]), st.sampled_from(["", "I see "])
)
def test_a_pair_of_codes_encloses_words_that_are_read(codes: tuple[str, str], words: str, before: str) -> None:
    opening, closing = codes
    spans = find(f"{before}{opening}{words}{closing} now, and it is here.")
    assert [span.text for span in spans] == [opening, closing]
    assert all(span.is_extracted and span.is_markup for span in spans)
    assert find_partners([span.pair for span in spans]) == {0: 1, 1: 0}


@given(st.sampled_from(POINTS), st.sampled_from(["House", "The house"]), st.sampled_from(["", "I see "]))
def test_a_code_before_a_word_is_taken_out(code: str, words: str, before: str) -> None:
    spans = find(f"{before}{code}{words} is here")
    assert "".join(span.text for span in spans) == code
    assert all(span.is_extracted and span.pair is None for span in spans)


@pytest.mark.parametrize("text", ["I see it @5pm today", "the house @3am", "the ^2nd house", "it is @5ish"])
def test_a_time_or_an_ordinal_behind_a_sign_is_no_code(text: str) -> None:
    assert [span for span in find(text) if span.is_extracted] == []


@pytest.mark.parametrize("code", ENDS)
def test_a_code_behind_a_sentence_is_taken_out(code: str) -> None:
    (span,) = find(f"I see the house.{code}")
    assert (span.text, span.is_extracted) == (code, True)


@pytest.mark.parametrize(
    "text",
    [
        "I see it [not] here",
        "I see it [the house] here",
        "[name]",
        "the house[s] is here",
        "I see h[i][j] in it",
        "I see `[the house][1]` here",
        "I see it == the house || h == a",
        "It is R&D, AT&T; 3&6 of it",
        "It is §6 of it",
        "It costs $5 and $6, $5-$6",
        "House & net",
        "It is 5' of the house or ~3 of it, ''the'' house",
        "Save &As",
    ],
)
def test_marks_of_ordinary_texts_are_no_codes(text: str) -> None:
    assert not any(span.kind in ("wrap", "tag", "command") or span.text.startswith("[") for span in find(text))


def test_a_link_may_enclose_a_picture() -> None:
    spans = find("I see [![the house][house]][1] and [![House](house.png)](https://example.org).")
    assert find_partners([span.pair for span in spans]) == {0: 3, 3: 0, 1: 2, 2: 1, 4: 7, 7: 4, 5: 6, 6: 5}


def test_two_tags_side_by_side_are_no_words() -> None:
    assert all(span.is_extracted for span in find('It is <x id="1"></x>the house<x id="2"></x>.'))


@given(st.text(r"a N'<>=/[]{}()\`_|§&^1!.", max_size=40))
def test_spans_of_any_text_are_cut_from_it(text: str) -> None:
    end = 0
    for span in find(text):
        assert end <= span.start and text[span.start : span.end] == span.text
        end = span.end
