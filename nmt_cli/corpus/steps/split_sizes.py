"""The sizes of dev and test: those of `--dev` and `--test`, or a default that suits the corpus."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NoReturn

from nmt_cli.corpus.checks import CHECKS
from nmt_cli.corpus.config import COUNT, SHARE, is_size
from nmt_cli.errors import DataError, OptionError
from nmt_cli.text.wrapping import format_count

NOTHING_LOST: Mapping[str, int] = MappingProxyType({})
DEFAULT_SIZE = 1_000  # pairs for dev and for test each ...
DEFAULT_SHARE = 10  # ... but at most one in this many


@dataclass(frozen=True)
class Sizes:
    """The requested numbers of dev and test pairs."""

    dev: int
    test: int


def parse_size(value: str, pairs: int, flag: str) -> int:
    """Returns the number of pairs meant by "1000", "0.05" or "5%". Raises OptionError for zero and for all pairs."""
    if COUNT.fullmatch(value):
        size = int(value.replace(",", ""))
    else:
        number, percent = SHARE.fullmatch(value).groups()  # type: ignore[union-attr]
        share = float(number) / (100 if percent else 1)
        if not 0 < share < 1:
            raise OptionError(
                f"{flag} is {value}; a share is more than 0 and less than 1", hint="0.05 and 5% are the same"
            )
        size = max(round(share * pairs), 1)
    if size < 1:
        raise OptionError(f"{flag} is {value}; at least 1 pair is needed")
    return size


def check_sizes(dev: str | None, test: str | None) -> None:
    """Raises OptionError for sizes that no corpus can have, before the corpus is read."""
    sizes = {"--dev": dev, "--test": test}
    shares = [
        parse_size(value, 1_000_000, flag) / 1_000_000
        for flag, value in sizes.items()
        if value is not None and is_size(value) and (parse_size(value, 1, flag) and not COUNT.fullmatch(value))
    ]
    if sum(shares) >= 1:
        raise OptionError(f"--dev {dev} and --test {test} leave nothing to train on", hint="choose smaller splits")


def choose_sizes(
    pairs: int,
    dev: str | None,
    test: str | None,
    *,
    where: str,
    from_files: frozenset[str] = frozenset(),
    losses: Mapping[str, int] = NOTHING_LOST,
    training_only: int = 0,
) -> Sizes:
    """Returns the sizes of dev and test: the options, or 1,000 each but at most a tenth; 0 for those `from_files`.

    They are drawn from `pairs`; `training_only` counts the others. Raises DataError, about the corpus `where` and its
    `losses` by check, if more pairs would be held out than remain for training.
    """
    default = min(DEFAULT_SIZE, pairs // DEFAULT_SHARE)
    options = {"dev": dev, "test": test}
    sizes = {name: default if value is None else 0 for name, value in options.items()}
    for name, value in options.items():
        if value is not None and name not in from_files:
            sizes[name] = parse_size(value, pairs, f"--{name}")
    held_out = sum(max(size, 1) for name, size in sizes.items() if name not in from_files)
    in_training = max(2 * held_out, 1) - training_only
    needed = max(in_training, held_out, DEFAULT_SHARE if None in (dev, test) else 0)
    if pairs < needed and training_only:
        raise DataError(
            f"{where}: {format_count(pairs, 'pair')} can be drawn for dev and test, which takes at least {needed:,}; "
            f"{format_count(training_only, 'pair is', 'pairs are')} for training only",
            hint="leave out =train, or name files with --dev and --test",
        )
    if pairs < needed:
        counts = [
            value is not None and COUNT.fullmatch(value) for name, value in options.items() if name not in from_files
        ]
        problem = f"and {held_out:,} of them would be held out, more than half"
        if all(counts) or needed == DEFAULT_SHARE:
            problem = f"too few to split; it takes at least {needed:,}"
        hint = "choose smaller splits with --dev and --test, or add pairs" if dev or test else "add pairs"
        refuse_too_few(pairs, where, problem, losses, hint)
    return Sizes(**sizes)


def refuse_too_few(pairs: int, where: str, problem: str, losses: Mapping[str, int], hint: str) -> NoReturn:
    """Raises DataError for a corpus that is too small, naming the checks' losses if they explain it."""
    dropped = ", ".join(f"{count:,} {name}" for name, count in losses.items())
    raise DataError(
        f"{where}: {format_count(pairs, 'pair')} can be used, {problem}{dropped and f' (dropped: {dropped})'}",
        hint=describe_loss(losses, hint) if sum(losses.values()) > pairs else hint,
    )


def describe_loss(losses: Mapping[str, int], hint: str) -> str:
    """Explains how to keep the pairs dropped by the checks, if possible."""
    checks = {check.name: check for check in CHECKS}
    worst = next(iter(losses))
    if worst not in checks or not checks[worst].can_be_kept or worst.startswith("duplicate"):
        return hint
    longer = " or raise --max-length" if worst == "too-long" else ""
    return f"keep them with --keep {worst}{longer}, or add pairs"
