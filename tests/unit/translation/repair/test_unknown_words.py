from __future__ import annotations

import numpy as np
import pytest

from nmt_cli.errors import OptionError
from nmt_cli.search.config import SearchConfig
from nmt_cli.translation.repair.unknown_words import replace_unknown
from support.adversary import adversarial_translator


def test_an_unknown_word_becomes_the_source_word_it_looked_at_most() -> None:
    words = adversarial_translator("word")
    line = "bade Xyzzy."
    (translation,) = words.translate([line], SearchConfig(max_length=3))
    ids = words.target.encode(line)
    assert ids.count(1) == 1
    attention = np.zeros((len(ids), len(translation.source_pieces)))
    attention[:, 1], attention[:, -1] = 0.4, 0.6  # mostly at the end of the sentence, which is no word
    hypothesis = translation.hypotheses[0]._replace(
        tokens=tuple(ids), attentions=(attention,), text=words.target.decode(ids)
    )
    replaced = replace_unknown(translation._replace(hypotheses=(hypothesis,)), words.source, words.target)
    assert replaced.text == line
    with pytest.raises(OptionError, match="no subwords for all of 'Xyzzy'"):
        words.translate([line], SearchConfig(prefix="Xyzzy"))
