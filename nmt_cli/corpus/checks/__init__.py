"""The checks of `nmt prepare`, in the order in which they look; a pair that one of them drops is seen by no later one.

To add one, write a class in a file here and a line below.
"""

from __future__ import annotations

from nmt_cli.corpus.checks.check import Check, PairCheck, TextCheck
from nmt_cli.corpus.checks.languages import Language, Swapped, Unlike
from nmt_cli.corpus.checks.lengths import Ratio, TooLong
from nmt_cli.corpus.checks.repeats import Duplicate, DuplicateForm, HeldOut, ManyTargets
from nmt_cli.corpus.checks.scripts import Script
from nmt_cli.corpus.checks.shifted import Shifted
from nmt_cli.corpus.checks.single import Damaged, Empty, Identical, IdenticalShort, Numbers, Unfinished
from nmt_cli.corpus.checks.texts import Control, Markup, Mojibake
from nmt_cli.errors import OptionError, find_nearest

CHECKS: tuple[Check, ...] = (
    Mojibake(),
    Markup(),
    Control(),
    Empty(),
    Unfinished(),
    Damaged(),
    Shifted(),
    HeldOut(),
    Duplicate(),
    DuplicateForm(),
    Identical(),
    TooLong(),
    Script(),
    Swapped(),
    Language(),
    Ratio(),
    IdenticalShort(),
    Numbers(),
    Unlike(),
    ManyTargets(),
)
TEXT_CHECKS = tuple(check for check in CHECKS if isinstance(check, TextCheck))
PAIR_CHECKS = tuple(check for check in CHECKS if isinstance(check, PairCheck))
SAMPLED_OUT = "weight"  # the reason of pairs that an input's weight of less than 1 leaves out


def check_names(names: tuple[str, ...]) -> frozenset[str]:
    """The names that `--keep` was given. Raises OptionError for one that there is not, naming the nearest."""
    known = {check.name: check for check in CHECKS}
    for name in names:
        if name not in known:
            like = find_nearest(name, known)
            raise OptionError(
                f"--keep: there is no check {name!r}",
                hint=f"did you mean {like!r}?" if like else f"the checks are {', '.join(known)}",
            )
        if not known[name].can_be_kept:
            raise OptionError(
                f"--keep: pairs of the check {name!r} cannot be kept",
                hint="test data in the training data makes every score worthless",
            )
    return frozenset(names)
