"""Files of strings of every form, made at random: byte for byte the same where nothing is translated."""

import json

from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.errors import DataError
from support.documents import convert_bytes, echo_document
from support.translations import louder

PARTS_OF_APPLE = ["a b", '"', '" = "', '";', "=", "\\n", '\\"', "/* c */", "// d", "\n", "é", "/", "("]
VALUES = st.recursive(
    st.text(st.sampled_from("ab \n\t\"\\'é😀{}:#-,%\u2028\x07/"), max_size=12)
    | st.integers()
    | st.none()
    | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab@$ .", max_size=4), inner, max_size=3),
    max_leaves=12,
)


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_any_json_stays_byte_for_byte(value: object, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    written = echo_document("json", text.encode()).decode()
    assert written.replace("\\u27ea", "").replace("\\u27eb", "") == text
    assert json.loads(convert_bytes("json", text.encode(), louder)) is not ...


@given(VALUES, st.sampled_from([True, False]))
def test_any_yaml_stays_byte_for_byte(value: object, flow: bool) -> None:
    import io

    import ruamel.yaml

    stream = io.StringIO()
    writer = ruamel.yaml.YAML(typ="safe", pure=True)
    writer.default_flow_style = flow
    writer.dump(value, stream)
    text = stream.getvalue()
    assert echo_document("yaml", text.encode()).decode() == text


@given(st.text(st.sampled_from("ab= :#!\\\n\r\tué0{}'"), max_size=40))
def test_any_properties_stay_byte_for_byte(text: str) -> None:
    written = echo_document("properties", text.encode()).decode()
    assert written.replace("\\u27ea", "").replace("\\u27eb", "") == text


@given(
    st.lists(
        st.sampled_from(
            ["a b", "\\'", "\\n", "&lt;", "<b>", "</b>", "é", '\\"', "  ", "\\u0020", "%1$s", "\n   ", "<br/>"]
        )
    ).filter(lambda parts: parts.count("<b>") == parts.count("</b>") == 0 or parts[:1] + parts[-1:] == ["<b>", "</b>"])
)
def test_any_string_resource_stays_byte_for_byte(parts: list[str]) -> None:
    inner = [part for part in parts[1:-1] if part not in ("<b>", "</b>")]
    text = f'<resources><string name="x">{"".join([*parts[:1], *inner, *parts[-1:]])}</string></resources>'
    try:
        written = echo_document("android", text.encode())
    except DataError:
        return  # tags that do not match
    assert written.decode() == text


@given(st.lists(st.sampled_from(PARTS_OF_APPLE)))
def test_any_strings_of_apple_stay_byte_for_byte(parts: list[str]) -> None:
    text = "".join(parts)
    try:
        written = echo_document("apple", text.encode())
    except DataError:
        return  # a string or a comment that is never closed
    assert written.decode() == text
