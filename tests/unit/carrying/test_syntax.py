"""Messages of ICU, entries of menus, and references of HTML."""

import pytest

from nmt_cli.carrying.spans import COVERS, NO_CONTEXT, Span, SpanKind
from nmt_cli.carrying.syntax import ACCELERATORS, move_to_word, split_choice


@pytest.mark.parametrize(
    ("choice", "texts"),
    [
        ("{n, plural, one {# day} other {# days}}", ["# day", "# days"]),
        ("{n,plural,offset:1 =0{none}other{all but {who}}}", ["none", "all but {who}"]),
        ("{who, select, she {her} other {their}}", ["her", "their"]),
        ("{a, plural, other {{b, select, x {y} other {z}}}}", ["{b, select, x {y} other {z}}"]),
    ],
)
def test_a_choice_is_split_into_its_syntax_and_its_texts(choice: str, texts: list[str]) -> None:
    parts = split_choice(choice)
    assert parts is not None
    assert [part.text for part in parts if part.is_text] == texts
    assert "".join(part.text for part in parts) == choice


@pytest.mark.parametrize(
    "text", ["{n}", "{n, plural, one {x}", "{n, plural, }", "{n, number, percent}", "{n, plural, one x}"]
)
def test_what_is_no_choice_is_not_split(text: str) -> None:
    assert split_choice(text) is None


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("_File", 0),
        ("Save &as", 5),
        ("~View", 0),
        ("(~Zoom)", 1),
        ("Q&A", None),
        ("to ~/x", None),
        ("a _b_ c", None),
        ("&one &two", None),
        ("5 & 6", None),
        (f"{COVERS[0]}_File{COVERS[1]}", 1),
        (f"Save {COVERS[0]}_As{COVERS[1]}", 6),
        (f"{COVERS[0]}_id{COVERS[1]}", None),
        (f"{COVERS[0]}_File", None),
    ],
)
def test_one_sign_before_a_word_is_an_accelerator(text: str, sign: int | None) -> None:
    assert [span.start for span in ACCELERATORS.find(text, NO_CONTEXT)] == ([] if sign is None else [sign])


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("E&xit", "&Exit"),
        ("Save a&ll...", "Save &all..."),
        ("(Zoo~m)", "(~Zoom)"),
        ("Pre_ferences", "_Preferences"),
        ("`Sh_ow`", "`Sh_ow`"),  # which a span covers
        *((text, text) for text in ("AT&T", "a_b_c", "x & y", "data_type", "Data_Type", "MAX_SIZE", "?q=x&p=y")),
        *((text, text) for text in ("Da_ta.txt", "/Spe_cial", "E&xit and Q&uit", f"E&xit {'now ' * 20}")),
    ],
)
def test_a_declared_sign_inside_a_word_of_a_menu_moves_before_it(text: str, moved: str) -> None:
    sign = next(sign for sign in "&~_" if sign in text)
    code = Span(0, len(text), text, SpanKind.CODE)
    assert move_to_word(text, sign, [code] if text.startswith("`") else []) == moved
    assert move_to_word(text, "%", []) == move_to_word(text, "&" if sign == "_" else "_", []) == text
