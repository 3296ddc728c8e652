"""The table of all checks, and the names that `--keep` accepts."""

import pytest

from nmt_cli.corpus.checks import CHECKS, check_names
from nmt_cli.errors import OptionError


def test_unknown_checks_and_leaks_cannot_be_kept() -> None:
    with pytest.raises(OptionError, match="there is no check 'swaped'") as caught:
        check_names(("swaped",))
    assert caught.value.hint == "did you mean 'swapped'?"
    with pytest.raises(OptionError, match="cannot be kept"):
        check_names(("held-out",))


def test_every_check_has_a_name_of_its_own_and_says_what_it_finds() -> None:
    names = [check.name for check in CHECKS]
    assert len(set(names)) == len(names) < 32
    assert all(check.problem and check.action in ("dropped", "mended", "reported") for check in CHECKS)
