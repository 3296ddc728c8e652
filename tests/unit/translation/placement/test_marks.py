"""Where marks go in a translation whose words come from certain words of its source."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.carrying.spans import find_partners
from nmt_cli.translation.placement.alignment import find_word_ranges, trace_words
from nmt_cli.translation.placement.marks import Mark, PlacedMark, nest_marks, place_marks
from nmt_cli.translation.placement.traced_text import TracedText


def trace(
    source: str, target: str, links: Sequence[int | None], attracted: Sequence[int] = (), weights: Sequence[float] = ()
) -> TracedText:
    """A translation of which word t comes from source word `links[t]`; each mark of it is a word."""
    ranges = [find_word_ranges(text) for text in (source, target)]
    return trace_words(source, ranges[0], target, ranges[1], links, weights, attracted)


def write(text: str, placed: Sequence[PlacedMark], names: Sequence[str]) -> str:
    """A translation with the names of marks where they are placed."""
    positions = [pair for mark in placed for pair in list_names(mark, names)]
    for _position, name in sorted(enumerate(positions), key=lambda pair: (-pair[1][0], -pair[0])):
        text = text[: name[0]] + name[1] + text[name[0] :]
    return text


def list_names(mark: PlacedMark, names: Sequence[str]) -> list[tuple[int, str]]:
    inside = [pair for inner in mark.inside for pair in list_names(inner, names)]
    closing = [(mark.position.end, names[mark.node.last])] * (mark.node.last > mark.node.first)
    return [(mark.position.start, names[mark.node.first]), *inside, *closing]


def test_a_pair_around_one_word_takes_no_faint_neighbour_along() -> None:
    marks = [Mark("open", 7, 7, "b"), Mark("close", 11, 11, "b")]
    traced = trace("Select File now", "Wählen Sie Datei jetzt", [1, 1, 1, 2], weights=[0.2, 0.2, 0.7, 0.9])
    assert write(traced.text, place_marks(marks, traced), ["<", ">"]) == "Wählen Sie <Datei> jetzt"


def place_point(traced: TracedText, start: int, **options: str) -> str:
    mark = Mark("point", start, start, **options)  # type: ignore[arg-type]
    return write(traced.text, place_marks([mark], traced), "☺")


def place_pair(traced: TracedText, start: int, end: int) -> str:
    marks = [Mark("open", start, start, "b"), Mark("close", end, end, "b")]
    return write(traced.text, place_marks(marks, traced), "[]")


@pytest.mark.parametrize(
    ("point", "expected"),
    [
        (0, "☺A C B"),
        (2, "A C ☺B"),  # before the word after it
        (4, "A ☺C B"),
        (1, "A☺ C B"),  # behind the word that it touches
        (3, "A C B☺"),
        (5, "A C B☺"),
    ],
)
def test_a_point_stays_with_the_word_that_it_touches(point: int, expected: str) -> None:
    assert place_point(trace("a b c", "A C B", [0, 2, 1]), point) == expected


def test_a_point_whose_word_nothing_comes_from_goes_to_the_nearest_word() -> None:
    assert place_point(trace("a b c d", "D A", [3, 0]), 3) == "D A☺"
    assert place_point(trace("a b c d", "D A", [3, 0]), 5) == "☺D A"
    attracted = trace("a b c d", "D A X", [3, 0, None], attracted=[1, 2, 1, 0])
    assert place_point(attracted, 3) == "D A X☺"


def test_a_point_goes_to_the_densest_of_the_words_that_come_from_its_own() -> None:
    assert place_point(trace("a b c", "A A C B A", [0, 0, 2, 1, 0]), 1) == "A A☺ C B A"
    assert place_point(trace("a b c", "B A C B B", [1, 0, 2, 1, 1]), 2) == "B A C ☺B B"


def test_a_point_does_not_divide_a_word_that_it_did_not_divide() -> None:
    assert place_point(trace("a Tom b", "A Toms B", [0, 1, 2]), 5) == "A Toms☺ B"
    assert place_point(trace("a x-y b", "A x-y B", [0, 1, 2]), 4) == "A x-☺y B"
    assert place_point(trace("a H2O b", "A H2O B", [0, 1, 2]), 3) == "A H☺2O B"


@pytest.mark.parametrize(
    ("target", "expected"), [("A B ?", "A ☺B ?"), ("A … B", "A … ☺B"), (". B", ". ☺B"), ("A .", "☺A ."), ("?", "☺?")]
)
def test_an_accelerator_stands_before_a_word(target: str, expected: str) -> None:
    words = target.split()
    links = [{"A": 0, "B": 1}.get(word) for word in words]
    assert place_point(trace("a b", target, links), 2, binding="right") == expected


@pytest.mark.parametrize(
    ("target", "links", "expected"),
    [("A B C", [0, 1, 2], "A☺ B C"), ("A , B C", [0, None, 1, 2], "A , B☺ C"), (". A", [None, 0], ". A☺")],
)
def test_a_slash_stands_between_two_words_if_there_are_any(target: str, links: list[int | None], expected: str) -> None:
    assert place_point(trace("a b c", target, links), 1, binding="both") == expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [("siehe bild .", "siehe bild☺ ."), ("er sah “ bild . ”", "er sah “ bild☺ . ”"), ("siehe bild", "siehe bild☺")],
)
def test_a_lost_word_never_follows_the_final_mark(target: str, expected: str) -> None:
    links = [0 if word == "bild" else None for word in target.split()]
    mark = Mark("word", 8, 11)
    assert write(target, place_marks([mark], trace("picture ⟦0⟧", target, links)), "☺") == expected


def test_a_pair_goes_around_the_words_that_come_from_its_own() -> None:
    assert place_pair(trace("a b c d", "A D C B", [0, 3, 2, 1]), 2, 5) == "A D [C B]"
    assert place_pair(trace("a b c d", "A D C B", [0, 3, 2, 1]), 2, 3) == "A D C [B]"


def test_a_pair_around_everything_stays_around_everything() -> None:
    assert place_pair(trace("a b c", "X A B Y", [None, 0, 1, None]), 0, 5) == "[X A B Y]"
    traced = trace("a b c d", "X C Y D", [None, 2, None, 3])
    marks = [Mark("open", 2, 2, "a"), Mark("open", 2, 2, "b"), Mark("close", 5, 5, "b"), Mark("close", 5, 5, "a")]
    assert write(traced.text, place_marks(marks, traced), "[()]") == "X [(C)] Y D"


def test_a_pair_from_which_no_word_comes_takes_the_word_that_it_attracts() -> None:
    assert place_pair(trace("a b c", "A C X", [0, 2, None], attracted=[0, 2, 1]), 2, 3) == "A C [X]"
    traced = trace("a b c", "A C", [0, 2])
    marks = [Mark("open", 2, 2, "b"), Mark("close", 3, 3, "b")]
    (placed,) = place_marks(marks, traced)
    assert placed.position == (2, 3, True)


@pytest.mark.parametrize(
    ("target", "links", "attracted", "expected"),
    [
        ("A B C D", [0, 1, 1, 3], [0, 1, 2, 3], "A [B] C D"),  # "C" comes from "c", which attracts nothing else
        ("A B C D", [0, 1, 1, 3], [0, 2, 1, 3], "A [B C] D"),  # "b" attracts it
        ("A B C . D", [0, 1, 1, None, 3], [0, 1, 2, 4], "A [B C] . D"),  # "fing an, ..."
        ("A B C D", [1, 1, 2, 3], [0, 1, 2, 3], "A [B] C D"),
    ],
)
def test_a_word_at_the_edge_that_a_word_beside_the_pair_attracts_is_outside(
    target: str, links: list[int | None], attracted: list[int], expected: str
) -> None:
    assert place_pair(trace("a b c d", target, links, attracted=attracted), 2, 3) == expected


def test_a_final_mark_does_not_draw_a_pair() -> None:
    assert place_pair(trace("a b c", "A C B .", [0, 2, 1, None]), 2, 3) == "A C [B] ."


@pytest.mark.parametrize(
    ("source", "target", "links", "expected"),
    [
        ("costs [£20].", "kostet 20 £.", [0, 1, 1], "kostet [20 £]."),
        ("costs [£20], and", "kostet 20 £, und", [0, 1, 1, 2], "kostet [20 £], und"),
        ("pays ([$20]) now", "zahlt (20 $) jetzt", [0, 1, 1, 2], "zahlt ([20 $]) jetzt"),
        ("says: “pay [£20].”", "sagt: „zahl 20 £.“", [0, 1, 2, 2], "sagt: „zahl [20 £].“"),
        ("is [“£20”].", "ist „20 £“.", [0, 1, 1], "ist [„20 £“]."),
        ("the [20%], and", "die 20 %, und", [0, 1, 1, 2], "die [20 %], und"),
        ("pays [£5m], he", "zahlt 5 Mio. £, er", [0, 1, 1, 1, 2], "zahlt [5 Mio. £], er"),
        ("she pays [€7 million].", "sie zahlt 7 Millionen €.", [0, 1, 2, 3, 2], "sie zahlt [7 Millionen €]."),
        ("came [20 pounds] and", "kam 20 £, und", [0, 1, 2, 3], "kam [20 £], und"),
        ("open [9:00 a.m.] to 5:30 p.m., daily", "offen 9:00–17:30, täglich", [0, 1, 5], "offen [9:00–17:30], täglich"),
        ("open [9:00 a.m.] to 5:30 p.m.", "offen 9:00–17:30.", [0, 1], "offen [9:00–17:30]."),
        ("zahlt ([20 €]) nun", "pays (€20) now", [0, 1, 3], "pays ([€20]) now"),
        ("[“no way”], he", 'ganz "und nie", er', [1, 0, 0, 2], '[ganz "und nie"], er'),
        ("please [un]lock.", "bitte entsperren.", [0, 1], "bitte [entsperren]."),
        ("costs [£20.] No", "kostet 20 £. Nein", [0, 1, 1, 2], "kostet [20 £.] Nein"),
        ("[He is rich.] She left", "Er reich ist. Sie ging", [0, 2, 1, 3, 4], "[Er reich ist.] Sie ging"),
        ("she said [“no”], and", 'sie sagte "nein" und', [0, 1, 2, 3], 'sie sagte ["nein"] und'),
        ("it is [...] now", "es ist … nun", [0, 1, 2, 3], "es ist […] nun"),
    ],
)
def test_a_mark_behind_a_pair_stays_behind_it(source: str, target: str, links: list[int | None], expected: str) -> None:
    start, end = source.index("["), source.index("]") - 1
    assert place_pair(trace(source.replace("[", "").replace("]", ""), target, links), start, end) == expected


def test_no_pair_begins_with_a_comma() -> None:
    assert place_pair(trace("a b , c", "A , C B", [0, 2, 3, 1]), 2, 7) == "A , [C B]"
    assert place_pair(trace("a , b c", "A , C B", [0, 1, 3, 2]), 2, 7) == "A [, C B]"


def test_half_a_pair_is_a_point_and_names_tell_pairs_apart() -> None:
    marks = [Mark("open", 0, 0, "a"), Mark("open", 0, 0, "b"), Mark("close", 1, 1, "a"), Mark("close", 1, 1, "b")]
    assert find_partners([mark.pair for mark in marks]) == {0: 2, 2: 0}
    assert [(node.first, node.last) for node in nest_marks(marks)] == [(0, 2), (3, 3)]
    assert [(node.first, node.last) for node in nest_marks(marks)[0].inside] == [(1, 1)]


MARKS = st.lists(
    st.tuples(st.sampled_from(["open", "close", "point", "word"]), st.integers(0, 9), st.sampled_from("ab"))
)


@given(MARKS, st.lists(st.none() | st.integers(0, 4), min_size=1, max_size=8))
def test_every_mark_is_placed_once_and_pairs_nest(marks: list[tuple[str, int, str]], links: list[int | None]) -> None:
    ordered = sorted(marks, key=lambda mark: mark[1])
    source = "ab cd ef gh ij"
    traced = trace(source, " ".join(f"w{index}" for index in range(len(links))), links)
    made = [Mark(form, start, start + 2 * (form == "word"), name) for form, start, name in ordered]  # type: ignore[arg-type]
    placed = place_marks(made, traced)
    positions = [pair for mark in placed for pair in list_names(mark, [str(index) for index in range(len(made))])]
    assert sorted(int(name) for _, name in positions) == list(range(len(made)))
    assert [position for position, _ in positions] == sorted(position for position, _ in positions)
