"""JSON of ours is read back as it was written, and nothing else is."""

import dataclasses
import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.records import Count, FileName, Range, RecordError, Share, build, parse_json


class Inner(NamedTuple):
    name: FileName
    share: Share = 0.5


@dataclass(frozen=True)
class Outer:
    count: Count
    kind: Literal["a", "b"]
    limit: Annotated[int, Range(1, 9)] | None
    inner: Inner
    parts: tuple[Inner, ...]
    files: dict[FileName, int]
    flag: bool = False


GOOD: dict[str, Any] = {
    "count": 3,
    "kind": "a",
    "limit": None,
    "inner": {"name": "x.txt", "share": 1},
    "parts": [{"name": "y"}],
    "files": {"z": 1},
}


def test_a_record_is_built_from_the_types_of_its_fields() -> None:
    record = build(Outer, GOOD)
    assert record == Outer(3, "a", None, Inner("x.txt", 1.0), (Inner("y"),), {"z": 1})
    assert isinstance(record.inner.share, float)


@given(
    st.builds(
        Outer,
        count=st.integers(0, 2**53),
        kind=st.sampled_from(["a", "b"]),
        limit=st.none() | st.integers(1, 9),
        inner=st.builds(Inner, st.just("f"), st.floats(0, 1)),
        parts=st.lists(st.builds(Inner, st.just("g"), st.floats(0, 1))).map(tuple),
        files=st.dictionaries(st.sampled_from("abc"), st.integers(-9, 9)),
        flag=st.booleans(),
    )
)
def test_what_was_written_is_read_back(record: Outer) -> None:
    values = dataclasses.asdict(record)
    values["inner"], values["parts"] = record.inner._asdict(), [part._asdict() for part in record.parts]
    assert build(Outer, parse_json(json.dumps(values))) == record


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"count": "3"}, 'count is "3"; it must be a whole number'),
        ({"count": True}, "count is true; it must be a whole number"),
        ({"count": 1.5}, "count is 1.5; it must be a whole number"),
        ({"count": -1}, "count is -1; it must be from 0 to 9.0072e+15"),
        ({"kind": "zz"}, 'kind is "zz"; it must be "a" or "b"'),
        ({"limit": 0}, "limit is 0; it must be from 1 to 9"),
        ({"limit": "x"}, 'limit is "x"; it must be a whole number or null'),
        (
            {"inner": {"name": "/etc/passwd"}},
            'inner.name is "/etc/passwd"; it must be the name of a file in the same directory',
        ),
        ({"inner": {"name": "../x"}}, 'inner.name is "../x"; it must be the name of a file in the same directory'),
        ({"inner": {"name": "x", "share": 2}}, "inner.share is 2.0; it must be from 0 to 1"),
        ({"inner": []}, "inner is a list; it must be an object"),
        ({"parts": [{"name": "y"}, {}]}, "parts[1].name is missing"),
        ({"parts": {"name": "y"}}, "parts is an object; it must be a list"),
        ({"files": {"a/b": 1}}, 'files.a/b is "a/b"; it must be the name of a file in the same directory'),
        ({"other": 1}, "there is no entry other"),
    ],
)
def test_anything_else_is_refused_with_its_key(change: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError) as caught:
        build(Outer, {**GOOD, **change})
    assert str(caught.value) == message


def test_a_missing_entry_is_named() -> None:
    with pytest.raises(RecordError, match="kind is missing"):
        build(Outer, {name: value for name, value in GOOD.items() if name != "kind"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a":' + "[" * 200_000 + "]" * 200_000 + "}", "it is nested too deeply"),
        ("[" * 60 + "]" * 60, "is nested too deeply"),
        ('{"a": {"b": NaN}}', r"a\.b is not a finite number"),
        ('{"a": [1, -Infinity]}', r"a\[1\] is not a finite number"),
        ('{"a": 1e999}', "a is not a finite number"),
        ('{"a": 1' + "0" * 5000 + "}", "a is not a finite number"),
        ("{", "not valid JSON"),
        ("", "not valid JSON"),
    ],
)
def test_json_that_no_nmt_wrote_is_refused(text: str, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        parse_json(text)
