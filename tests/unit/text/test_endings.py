"""How many of the words that end alike have a capital is what counting them one by one says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.text.endings import ENOUGH_ALIKE, LONGEST_ENDING, SHORTEST_ENDING, WordEndings
from nmt_cli.text.profile import WordCounts

WORDS = st.text("abé", min_size=1, max_size=7)
PROFILES = st.dictionaries(WORDS, st.sampled_from(["", "\t1:2", "\t0:3\t1:1", "\t1:0", "\t2:4"]), max_size=40)


@given(PROFILES, WORDS)
def test_capitals_are_counted_for_the_longest_ending_of_enough_words(forms: dict[str, str], word: str) -> None:
    content = "\n".join(f"{key}\t5{form}" for key, form in sorted(forms.items()))
    endings = [word[-length:] for length in range(LONGEST_ENDING, SHORTEST_ENDING - 1, -1) if length < len(word)]
    alike = ([key for key in forms if key.endswith(ending)] for ending in endings)
    enough = next((keys for keys in alike if len(keys) >= ENOUGH_ALIKE), None)
    expected = sum(forms[key] == "\t1:2" for key in enough) / len(enough) if enough else None
    assert WordEndings(WordCounts(content.encode(), 1)).find_capital_share(word) == expected
