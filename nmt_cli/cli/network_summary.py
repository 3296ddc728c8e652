"""Short descriptions of a training: what it starts from, what its 8-bit weights cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nmt_cli.training.watcher import ParentInfo

if TYPE_CHECKING:
    from nmt_cli.training.int8_check import Int8Check


def describe_parent(parent: ParentInfo) -> str:
    """Returns which model a training starts from, and how many of its pieces are used."""
    languages = f"{parent.source_language} -> {parent.target_language}"
    if parent.is_same_vocabulary:
        return f"starts from {parent.name} ({languages}), which has the same pieces"
    sides = [
        f"{'pieces' if side == 'joint' else side} {counts.kept:,} kept, {counts.spelled:,} spelled, "
        f"{counts.drawn:,} drawn"
        for side, counts in parent.rows.items()
    ]
    return f"starts from {parent.name} ({languages}): {'; '.join(sides)}"


def describe_int8(check: Int8Check) -> str:
    """Returns the cost of 8-bit weights in BLEU, and whether they are used."""
    used = "used by default" if check.default == "int8" else "so float is the default"
    return f"int8 costs {max(check.cost, 0.0):.1f} BLEU: {check.int8_bytes / 1e6:.0f} MB, {used}."
