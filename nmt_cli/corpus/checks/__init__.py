"""The checks of `nmt prepare`, in the order in which they run; later checks do not see dropped pairs.

To add a check, write a class in a file here and an entry below.
"""

from __future__ import annotations

import nmt_cli.corpus.checks.languages as languages
import nmt_cli.corpus.checks.texts as texts
from nmt_cli.corpus.checks.check import Check, PairCheck, TextCheck
from nmt_cli.errors import OptionError
from nmt_cli.settings import reject_unknown

CHECKS: tuple[Check, ...] = (
    # What repairs texts.
    *(texts.Mojibake(), texts.Markup(), texts.Control(), texts.Composition(), texts.Apostrophes(), texts.Notes()),
    # What drops pairs.
    *(texts.Empty(), texts.Placeholders(), texts.Unfinished(), texts.LostCharacters(), languages.Shifted()),
    *(texts.HeldOut(), texts.Duplicate(), texts.DuplicateForm(), texts.Identical(), texts.TooLong()),
    *(languages.Script(), languages.Swapped(), languages.Language(), texts.Ratio()),
    # What reports them.
    *(texts.IdenticalShort(), texts.Numbers(), texts.MixedApostrophes(), texts.Brackets()),
    *(texts.Glosses(), texts.Boundaries(), texts.Capitals(), texts.WrittenTwice(), texts.SourceWords()),
    *(languages.WrongLanguage(), languages.OtherFile(), texts.ManyTargets()),
)
TEXT_CHECKS = tuple(check for check in CHECKS if isinstance(check, TextCheck))
PAIR_CHECKS = tuple(check for check in CHECKS if isinstance(check, PairCheck))
SAMPLED_OUT = "weight"  # the reason of pairs that were left out because the weight of their input is less than 1


def check_names(names: tuple[str, ...]) -> frozenset[str]:
    """Returns the names given to `--keep`. Raises OptionError for an unknown one; the hint names the nearest check."""
    checks = {check.name: check for check in CHECKS}
    reject_unknown(names, checks, where="--keep", noun="check")
    for name in names:
        if not checks[name].can_be_kept:
            raise OptionError(
                f"--keep: pairs of the check {name!r} cannot be kept",
                hint="with test data in the training data, every score is worthless",
            )
    return frozenset(names)
