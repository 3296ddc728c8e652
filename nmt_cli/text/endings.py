"""How words end, and how many of those that end alike are names: `-ing` ends none, `-enko` ends little else.

Brants (2000), section 2.3, guesses the class of an unknown word so. Knows only the words of a profile.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate

from nmt_cli.text.profile import WordCounts

LONGEST_ENDING, SHORTEST_ENDING = 5, 3  # letters
ENOUGH_ALIKE = 5  # as many words with an ending show what it ends
LAST_LETTER = "\U0010ffff"


class WordEndings:
    """The words of one side, sorted by their letters from the last to the first."""

    def __init__(self, words: WordCounts) -> None:
        rows = sorted((key[::-1], has_capital) for key, has_capital in words.list_cased() if key.isalpha())
        self.reversed = [key for key, _ in rows]
        self.capitals = [0, *accumulate(has_capital for _, has_capital in rows)]  # among the first n words

    def find_capital_share(self, word: str) -> float | None:
        """Returns the share of words with a capital among those with the longest ending that a word has in common with
        enough of them; None if there is none.
        """
        key = word.lower()[::-1]
        for length in range(min(LONGEST_ENDING, len(key) - 1), SHORTEST_ENDING - 1, -1):
            ending = key[:length]
            first, end = (bisect_left(self.reversed, limit) for limit in (ending, ending + LAST_LETTER))
            if end - first >= ENOUGH_ALIKE:
                return (self.capitals[end] - self.capitals[first]) / (end - first)
        return None
