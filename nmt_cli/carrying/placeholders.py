"""Program placeholders of every language that gettext knows: `{name}`, `%s`, `%1$d`, `$t(key)`.

Documents use them to compare a translation with its source.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache

from nmt_cli.carrying.choices import CHOICE, split_choice
from nmt_cli.carrying.kind import NOT_IN_SPANS, Kind
from nmt_cli.carrying.numbers.patterns import LETTER
from nmt_cli.carrying.spans import SpanKind

OWN = r"⟦\d⟧"  # text that looks like what a masked span becomes
NAME = r"[A-Za-z_](?:[\w.-]{0,40}\w)?"
BETWEEN_SIGNS = "|".join(
    rf"(?<!\w){sign}{{1,2}}{NAME}{sign}{{1,2}}(?!\w)" for sign in ("#", "@", r"\|", r"\^", "§", "!!")
)
PLACEHOLDER_SYNTAXES = (
    # Between signs: ERB and ASP, Template Toolkit, Mailchimp, wikis, Java, Python, Chrome, Windows, MFC.
    rf"<%[^%{NOT_IN_SPANS}]{{0,80}}%>|\[%[^%{NOT_IN_SPANS}]{{0,80}}%\]|\*\|[^|*{NOT_IN_SPANS}]{{1,60}}\|\*",
    rf"\[\[[^\[\]{NOT_IN_SPANS}]{{1,60}}\]\]|<<[^<>{NOT_IN_SPANS}]{{1,60}}>>|\(\({NAME}\)\)",
    rf"%%{NAME}%%|%(?![sd]){NAME}%(?!%)|%[sd][\w.-]{{0,40}}\w%(?![\w%])|\${NAME}\$|__[A-Za-z](?:[\w.-]{{0,40}}?[^\W_])?__",
    r"(?<![\w%])%[A-Z][A-Z_]{1,40}\d?(?![\w%])",  # LibreOffice
    BETWEEN_SIGNS,
    # Between brackets behind a sign: Swift, make; a formula of a spreadsheet.
    rf"[\\$@]\((?:[^(){NOT_IN_SPANS}]|\([^(){NOT_IN_SPANS}]{{0,60}}\)){{1,60}}\)",
    rf"(?<![\w=])=[A-Z][A-Z0-9.]{{0,30}}\((?:[^(){NOT_IN_SPANS}]|\([^(){NOT_IN_SPANS}]{{0,80}}\)){{0,120}}\)",
    # Braces: Python, Java, C#, JavaScript, Mustache, Ruby, shell.
    rf"\{{\{{\{{[^{{}}{NOT_IN_SPANS}]{{0,80}}\}}\}}\}}|\{{\{{[^{{}}{NOT_IN_SPANS}]{{0,80}}\}}\}}|[$#%@]?\{{[^{{}}{NOT_IN_SPANS}]{{0,60}}\}}",
    r"\$t\([^()\n]{0,80}\)",
    r"\$(?:[A-Za-z_]\w{1,40}|[A-Za-z_](?!\w))(?:(?:->|\.(?=[a-z_]))[A-Za-z_]\w{0,40}){0,4}",
    # Ruby, Python, Boost, Qt.
    r"%<\w{1,40}>[-+ #0]*\d*(?:\.\d+)?[a-zA-Z]|%(?:\d+\$)?\(\w{1,40}\)[#0+-]*\d*(?:\.\d+)?[a-zA-Z]",
    r"%\|[^|%\n]{1,20}\||%\d{1,2}%|%L?\d{1,2}(?![\d$a-zA-Z]|\.\d|:\w)|%Ln(?![A-Za-z])",
    # Apple's plurals.
    r"%(?:\d+\$)?#@\w{1,40}@",
    # C, and what learned from it: Objective-C, PHP, Perl, Java, Lua, awk, Tcl, Pascal, GCC; dates.
    r"%(?:\d+\$|\d+:)?[#0+'-]*(?:\*|\d+)?(?:\.(?:\*|\d+))?"
    rf"(?:[sd]|(?:hh|h|ll|l|L|j|z|t|q)?[+#]*(?:@|[a-zA-Z](?![{LETTER}])))|%[<>](?=[^\s\d])|%%",
    rf"(?<![\w~/])~\d{{0,3}}[asdwASDW%](?![{LETTER}/])",
)
ANY_PLACEHOLDER = "|".join((CHOICE, *PLACEHOLDER_SYNTAXES))  # as text: compiled at its first use
PROGRAM_PLACEHOLDERS = Kind(SpanKind.PLACEHOLDER, patterns=(OWN, *PLACEHOLDER_SYNTAXES), signs=r"%{$~⟦#@|^§!=<\[(\\_*")


@cache
def compile_placeholders() -> re.Pattern[str]:
    """Returns the pattern of a placeholder or a choice, compiled at its first use."""
    return re.compile(ANY_PLACEHOLDER)


def find_placeholders(text: str) -> list[str]:
    """Returns the placeholders of a message, in order."""
    return [match[0] for match in compile_placeholders().finditer(text)]


def has_same_placeholders(source: str, target: str) -> bool:
    """Whether a translation has the same placeholders as its source, equally often.

    In a message with alternative texts, each text may repeat placeholders of the surrounding words; so only the set of
    placeholders must agree, with the same braces and keywords.
    """
    expected, actual = find_placeholders(source), find_placeholders(target)
    if not any(re.match(CHOICE, placeholder) for placeholder in expected):
        return Counter(expected) == Counter(actual)
    return set(list_choice_parts(source)) == set(list_choice_parts(target))


def list_choice_parts(text: str) -> Iterator[str]:
    """Yields the placeholders of a message and the syntax of its choices, without blanks."""
    for placeholder in find_placeholders(text):
        parts = split_choice(placeholder) if re.match(CHOICE, placeholder) else None
        if parts is None:
            yield placeholder
            continue
        for part in parts:
            if part.is_text:
                yield from list_choice_parts(part.text)
                yield from re.findall("#", part.text)
            else:
                yield "".join(part.text.split())
