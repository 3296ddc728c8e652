"""Emoji, halves of them (U+FFFD), emoticons such as `:-)`, and signs after a word: `™`, `(!)`."""

from __future__ import annotations

from nmt_cli.carrying.kind import Kind
from nmt_cli.carrying.spans import SpanKind
from nmt_cli.text.characters import END_MARKS, PAUSES

EMOJI = Kind(
    SpanKind.EMOJI,
    form="taken out",
    patterns=(
        # Emoji: flags, keycaps, and pictographs with modifiers, variations, tags and joiners (UTS 51, ED-16).
        r"[\U0001f1e6-\U0001f1ff]{1,2}|[0-9#*]\ufe0f?\u20e3",
        # Faces that are typed: :-) ;D <3 xD ^^
        rf"(?<!\S)(?:[:;=]['-]?[DPpOo3|/\\*()\[\]]{{1,5}}|[xX]D{{1,5}}|<3{{1,5}}|\^_?\^)(?=[\s{END_MARKS}{PAUSES}]|$)",
        r"(?:{0}(?:\u200d{0})*)".format(
            "(?:[\U0001f000-\U0001f1e5\U0001f200-\U0001faff\u2600-\u27bf\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55"
            "\u231a\u231b\u23e9-\u23f3\u23f8-\u23fa\u25fd\u25fe\u2934\u2935]"
            "|[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u25ff\u3030\u303d\u3297\u3299](?=\ufe0f))"
            "[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
        ),
        "\ufffd+",  # what is left of an emoji that a program has cut in half; networks make nonsense of it
    ),
    signs="<©®\u203c\u2049\u20e3\u2100-\u2bff\u3030\u303d\u3297\u3299\ufffd\U0001f000-\U0001faff",
    cues=r"[:;=]['-]?[DPpOo3|/\\*()\[\]]|[xX]D|\^_?\^",
)
WORD_SIGNS = Kind(
    SpanKind.SIGN,
    form="taken out",
    patterns=(r"[®™℠](?!\ufe0f)|\([!?]{1,3}\)|\[sic\]",),
    signs="®™℠",
    cues=r"\([!?]|\[sic",
)
