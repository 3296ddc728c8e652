"""The changes of `stress.py`: what people do to a line, how it is undone, and what must come through."""

from __future__ import annotations

import html
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nmt_cli.languages.cldr import spell_number

KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
NEIGHBOURS = {key: (row + row[-2])[index + 1] for row in KEYS for index, key in enumerate(row)}
TYPING_ERRORS = 0.05  # share of the letters
GOOD_CHRF, TYPING_BAR = 1.5, 4.0  # BLEU below clean
NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
MARKS = ".,:’\u202f"  # within a number
WORD = re.compile(r"[^\W\d_]+")
FULL_HOUR = r"(?<=\d):00\b"
HALF_DAYS = re.compile(r"\b(\d|1[0-2])(?:[:.]([0-5]\d))? ?([ap])\.?m\b", re.IGNORECASE)

Change = Callable[[str, random.Random], str]
Rewrite = Callable[[str], str]


@dataclass(frozen=True)
class Row:
    """A way to change lines, how its marks are taken off the output, and the right case of an output word."""

    name: str
    change: Change = lambda text, _: text
    take_off: Rewrite = str
    right_case: Rewrite | None = None  # makes a word right; None where the case does not change
    compare: Rewrite = str  # what of the output, the reference and the clean translation is compared
    follows_clean: bool = False  # the right case is that of the clean translation
    bar: float = GOOD_CHRF
    joint: str | None = None  # stands between two lines, which become one


def mistype(text: str, generator: random.Random) -> str:
    """Drops, doubles, exchanges or misses one key in twenty."""
    letters, position = list(text), 0
    while position < len(letters):
        if letters[position].isalpha() and generator.random() < TYPING_ERRORS:
            kind = generator.randrange(4)
            if kind == 0:
                letters[position] = ""
            elif kind == 1:
                letters[position] *= 2
            elif kind == 2 and position + 1 < len(letters):
                letters[position], letters[position + 1] = letters[position + 1], letters[position]
                position += 1
            else:
                letters[position] = NEIGHBOURS.get(letters[position], letters[position])
        position += 1
    return "".join(letters)


def escape(text: str, generator: random.Random) -> str:
    """Writes marks as entities, and one blank as that which does not break."""
    return html.escape(text).replace("&#x27;", "&#39;").replace(" ", "&nbsp;", 1)


def capitalise(text: str) -> str:
    return " ".join(word[:1].upper() + word[1:] for word in text.split())


def drop_marks(marks: str) -> Rewrite:
    return lambda text: text.translate(str.maketrans("", "", marks))


def shout_word(text: str, generator: random.Random) -> str:
    """Returns a text with one of its words in capitals, which stands for emphasis."""
    words = text.split(" ")
    index = generator.randrange(len(words))
    return " ".join([*words[:index], words[index].upper(), *words[index + 1 :]])


CHANGES = (
    Row("lower case", lambda text, _: text.lower(), follows_clean=True),
    Row("no final mark", lambda text, _: text.rstrip(".!?"), compare=lambda text: text.rstrip(".!?")),
    Row("capitals", lambda text, _: text.upper(), right_case=str.upper),
    Row("title case", lambda text, _: capitalise(text), right_case=capitalise),
    Row("U+200E in front", lambda text, _: f"\u200e{text}", lambda text: text.replace("\u200e", "")),
    Row("curly quotes around", lambda text, _: f"“{text}”", lambda text: text.strip('“”„"«»')),
    Row("typing errors", mistype, bar=TYPING_BAR),
    Row("in <b>", lambda text, _: f"<b>{text}</b>", lambda text: re.sub("</?b>", "", text)),
    Row("dash in front", lambda text, _: f"- {text}", lambda text: text.removeprefix("- ")),
    Row("number in front", lambda text, _: f"3. {text}", lambda text: text.removeprefix("3. ")),
    Row("emoji behind", lambda text, _: f"{text} 🙂", lambda text: text.replace("🙂", "").strip()),
    Row("label", lambda text, _: f"Note: {text}", lambda text: text.partition(": ")[2]),
    Row("note reference", lambda text, _: f"{text}¹", lambda text: text.removesuffix("¹")),
    Row("entities", escape, lambda text: " ".join(html.unescape(text).split())),
    Row("brackets within", lambda text, generator: wrap_word(text, "()", generator) or text, drop_marks("()")),
    Row("quotes within", lambda text, generator: wrap_word(text, '""', generator) or text, drop_marks('"„“”')),
    Row("capitals within", lambda text, generator: shout_word(text, generator), compare=str.lower),
    Row("?! behind", lambda text, _: f"{text.rstrip('.!?')}?!", compare=lambda text: text.rstrip(".!?")),
)
ROWS = (
    *CHANGES,
    Row("two sentences", joint=" "),
    Row("<br> between", take_off=lambda text: " ".join(text.replace("<br>", " ").split()), joint="<br>"),
)
# What is put in the place of a name: names of many languages, and what programs and offices write.
STRANGE = {
    "strange names": """Kazimierz Siobhan Okonkwo Ouagadougou Szczecin Heppenheim Zalando Netflix Wimbledon Katowice
        Penderecki Xiomara Nguyen Thorvaldsen Iñigo Zeynep Bukowski Tshabalala Quetzaltenango Llanelli Papadopoulos
        Ljubljana Reykjavik Yamaguchi Obasanjo""".split(),
    "strange codes": r"""report.pdf C++ R&B AT&T snake_case getElementById main() NULL @tom_b #holiday ./install.sh
        src/main.py /usr/bin .NET Ctrl+C MAX_VALUE C:\Users I/O""".split(),
    "dialects": r"""{name} %s %1$s %(name)s %name% __NAME__ $USER$ *|FNAME|* <%=name%> [NAME] [[name]] [%name%] \(name)
        ${name} #{name} {{name}} @{name} :name !name ##name## |name| <<name>> $user->name =SUM(A1:B2)""".split(),
}
WRAPPED = {  # what opens and closes
    "placeholder pair": (("[X1X]", "[X2X]"), ("{0}", "{1}"), ("%s", "%s"), ("{bold}", "{/bold}"), ("%(a)s", "%(b)s")),
    "unknown tag": (("<b0>", "</b0>"), ("<1>", "</1>"), ("<t-1>", "</t-1>"), ('<x id="1"></x>', '<x id="2"></x>')),
}
WHOLE_WORD = re.compile(r"(?<!\S)[^\W\d_]+(?=[\s.,!?]|$)")


def wrap_word(text: str, marks: Sequence[str], generator: random.Random) -> str | None:
    """Returns a text with one of its words between two marks; None without a word."""
    words = list(WHOLE_WORD.finditer(text))
    if not words:
        return None
    word = generator.choice(words)
    return text[: word.start()] + word[0].join(marks) + text[word.end() :]


def keeps_wrapped(marks: tuple[str, str], output: str) -> bool:
    """Whether words stand between two marks."""
    opening, closing = map(re.escape, marks)
    return re.search(rf"{opening}[^\W\d_].*?{closing}", output) is not None


def exchange_name(source: str, target: str, strange: str) -> str | None:
    """Returns a source with `strange` for the first word with a capital that its target has too; None without one."""
    shared = {word for word in re.findall(r"[^\W\d_]{3,}", target) if word[0].isupper()}
    match = next((match for match in re.finditer(r"[^\W\d_]{3,}", source) if match[0] in shared), None)
    return None if match is None else source[: match.start()] + strange + source[match.end() :]


def exchange_digits(source: str, generator: random.Random) -> str:
    """Returns a source with each number exchanged for another of as many digits, none of which is 0."""
    return NUMBER.sub(lambda number: re.sub(r"\d", lambda _: str(generator.randint(1, 9)), number[0]), source)


def keeps_numbers(source: str, target: str, language: str) -> bool:
    """Whether a translation has each number of its source as often, and no other."""
    source, target = align_hours(source, target)
    has_more = Counter(list_digits(target, MARKS)) - Counter(list_digits(source, MARKS))
    return has_same_digits(source, target) or (not has_more and not list_lost_numbers(source, target, language))


def list_lost_numbers(source: str, target: str, language: str) -> list[str]:
    """Returns the numbers of a source that its translation has less often, in digits or as words of their own.

    The word for one is an article too, so one counts in digits alone; `language` is the code of the target's. A time
    such as 5 p.m. may be written as 17:00.
    """
    source, target = align_hours(source, target)
    if has_same_digits(source, target):
        return []
    lost = Counter(list_digits(source, MARKS)) - Counter(list_digits(target, MARKS))
    words = Counter(word.lower() for word in WORD.findall(target))
    return [
        number for number, count in lost.items() if sum(words[word] for word in spell(int(number), language)) < count
    ]


def align_hours(source: str, target: str) -> tuple[str, str]:
    """Returns both texts with the hours of a day of 24, without full minutes: 5:00 p.m. and 17:00 are 17."""
    in_24_hours = HALF_DAYS.sub(write_hours, source)
    if in_24_hours == source or HALF_DAYS.search(target):
        return source, target
    return re.sub(FULL_HOUR, "", in_24_hours), re.sub(FULL_HOUR, "", target)


def write_hours(match: re.Match[str]) -> str:
    """Returns a time such as 5:30 p.m. as 17:30."""
    hour = int(match[1]) % 12 + 12 * (match[3].lower() == "p")
    return f"{hour}:{match[2]}" if match[2] else str(hour)


def spell(number: int, language: str) -> set[str]:
    """Returns the words for a number; none for one, which is an article too. A hundred may be "hundert"."""
    spellings = spell_number(number, language) if number > 1 else frozenset()
    shorter = {word.removeprefix(one) for word in spellings for one in spell_number(1, language) if number >= 100}
    return shorter | spellings


def has_same_digits(source: str, target: str) -> bool:
    """Whether both texts have the same numbers; a blank may part thousands, or two numbers."""
    return any(list_digits(source, marks) == list_digits(target, marks) for marks in (MARKS, f"{MARKS} "))


def list_digits(text: str, marks: str) -> list[str]:
    """Returns the digits of each number, in order of size: notation and place are free."""
    return sorted(re.sub(r"\D", "", number) for number in re.findall(rf"\d+(?:[{marks}]\d+)*", text))
