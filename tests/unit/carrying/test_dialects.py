"""What programs put into texts is carried byte for byte, in whichever syntax, and wherever it stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.carrying.kinds import KINDS, find_spans
from support.names import CONTEXT

DIALECTS = (
    "%s %d %1$s %(name)s %(count)d %-5.2f %% %1 %L1 %@ %2$@ %#@files@ %<name>s %|1$s| ~a ~3d".split()
    + "{} {0} {name} {{name}} {{{name}}} {0:N2} ${name} #{name} %{name} @{name} {$name} {{#if}} {{/if}} {%if%}".split()
    + "$name $user.name $user->name $USER$ %name% %USER_NAME% %%name%% __NAME__ __name__ ##name## #name# @name@".split()
    + "@@name@@ *|FNAME|* |name| [[name]] [%name%] [NAME] [USER_NAME] <<name>> «Name» !name !!name!! :name".split()
    + ":user_id ::name \\(name) $(name) ((name)) $t(key) &name; snake_case camelCase user@host".split()
    + "--name --dry-run --see-it -v -rf".split()
    + ["<%= name %>", "<%- name -%>", "{{ name }}", "{{ name | upper }}", "{% if name %}", "[% name %]", "{# note #}"]
    + ["=TRUNC(103.37,1)", "=DATE(00;12;31)", "=SUM(A1:B2)", "=IF(A1>0;SUM(A1:A9);0)"]
)
CODES = [
    *(
        "foo.bar foo.bar() foo.bar(x) foo?.bar x::y std::vector std::vector<int> List<String> obj->field a->b a[i]"
        " arr[0] int[] f(x) f(x,y) O(n) printf(3) self_x 0xFF 0xdeadbeef 0b101 utf8mb4 x86_64 v1.2.3-beta 1.0.0-rc.1"
        " my-component-name app-header-title x-custom-header data-user-id en-US en_US en_US.UTF-8 application/json"
        " text/html %s:%s {host}:{port} {a}/{b} {0}x{1} /users/{id}/edit foo_{id} {width}px %{x}s @:{key} %PRODUCTNAME"
        " localhost:8080 xml:lang \\u00e9 \\x41 #include @media :root #main-nav $HOME %APPDATA% ~/.bashrc ./a.sh ../b"
        " /^a.*z$/ ^[a-z]+$ [a-z]+ x+=1 i++ a&&b x!=y a==b a<=b x^2 a_b_c fe80::1 C++ C# R&B U+00E9 *.txt"
    ).split(),
    'git commit -m "x"',
    "git commit -m <message>",
    "nmt train --model=<name>",
    "NMT TRAIN --MODEL",
    "NMT TRAIN --MODEL X",
    "ABC-123-XYZ",
    "A4-17-B",
    "HOUSE TRAIN --MODEL",  # the first word is known, and alone in capitals
    "nmt train --model DIR --epochs N",
    "--model DIR",
    "--MODEL X",
    "npm install --save",
    "tar -xzf a.tgz",
    "x = 5",
    "Map<String, Integer>",
    "foo(x, y)",
]
WORD_EDGED = frozenset(  # touched by a letter, these are another token
    placeholder
    for placeholder in DIALECTS
    if placeholder[0].isalnum() or placeholder[-1].isalnum() or placeholder[0] in "!:~-@#|[_="
)
FRAMES = (
    "{} is here.",
    "I saw {}.",
    "I saw {} in the house",
    "He, {}, is here",
    'See ({}) or "{}"!',
    "It is {}: you know",
    "Did {}, or he?",
)


def is_carried(text: str, placeholder: str) -> bool:
    """Whether each occurrence of a placeholder in a text is within a span."""
    spans = find_spans(text, CONTEXT, KINDS)
    starts = [start for start in range(len(text)) if text.startswith(placeholder, start)]
    return all(any(span.start <= start and start + len(placeholder) <= span.end for span in spans) for start in starts)


@pytest.mark.parametrize("placeholder", DIALECTS + CODES)
def test_a_placeholder_is_carried_at_every_place_of_a_sentence(placeholder: str) -> None:
    for frame in FRAMES:
        assert is_carried(frame.replace("{}", placeholder), placeholder), frame


@pytest.mark.parametrize("code", ["*args", "**kwargs", "*ptr", "&var", "&ctx_id"])
def test_a_sign_belongs_to_the_unknown_word_behind_it(code: str) -> None:
    assert is_carried(f"I saw {code} and {code}", code)
    assert is_carried(f"{code} is here", code)


@pytest.mark.parametrize("code", ["_kwarg", "_ctx", "&qux", "~qux"])
def test_a_sign_of_menus_within_a_text_belongs_to_an_unknown_word(code: str) -> None:
    assert is_carried(f"I saw {code} here", code)


@pytest.mark.parametrize("text", ["*house", "*Note", "&house", "&Zoom", "_zoom", "~Zoom", "†died", "the house*"])
def test_a_sign_beside_another_word_is_taken_out(text: str) -> None:
    sign, *_ = find_spans(text, CONTEXT, KINDS)
    assert sign.is_extracted and not any(map(str.isalpha, sign.text))


@given(st.sampled_from(sorted(set(DIALECTS) - WORD_EDGED)), st.sampled_from(["house", "it", "the"]), st.booleans())
def test_a_placeholder_that_touches_a_word_is_carried(placeholder: str, word: str, stands_before: bool) -> None:
    text = f"I saw {placeholder}{word} here" if stands_before else f"I saw {word}{placeholder} here"
    assert is_carried(text, placeholder)


@pytest.mark.parametrize(
    "text",
    [
        "I saw it: the house!",
        "Did he (or she) go?",
        "It is 5:the house",
        "[the house]",
        "a:b",
        "the house(s), plurality(s) or child(ren)",
        "the house.It is here",
        "the mother-house, a word-unknown",
        "he is here -and she",
    ],
)
def test_marks_of_a_sentence_are_no_placeholders(text: str) -> None:
    assert [span.text for span in find_spans(text, CONTEXT, KINDS) if not span.is_number] == []
