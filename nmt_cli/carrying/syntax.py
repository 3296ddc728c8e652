"""Finds markup and program syntax: tags, elements, references, placeholders, addresses, accelerators, messages.

`Open <b>{name}</b> at https://example.org` has the spans `<b>`, `{name}`, `</b>` and the address: each is found by
its syntax, whatever the language. Tags are taken out of the text, the others masked by placeholders.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from nmt_cli.carrying.codes import BEFORE_VALUE, REACH, is_variable
from nmt_cli.carrying.spans import (
    COVERS,
    LETTER,
    NOT_IN_SPANS,
    UNSPACED_LETTERS,
    Context,
    Kind,
    Pair,
    Span,
    SpanKind,
    cover_spans,
    find_partners,
)
from nmt_cli.text.characters import ANY_CLOSING, ANY_OPENING, END_MARKS, FINAL_MARKS, OPENING, PAUSES, QUOTES

INLINE_TAGS = frozenset(
    "a abbr b bdi bdo big bpt bx cite code del dfn em ept ex font g i ins it kbd mark ph q s samp small span strike"
    " strong sub sup tt u var x color size link url".split()
)
EMPTY_TAGS = frozenset("area base br bx col embed ex hr img input meta param ph source track wbr x".split())
BLOCK_TAGS = frozenset(
    "address article aside blockquote body br caption center col colgroup dd details dialog dir div dl dt fieldset"
    " figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li main"
    " menu meta nav noscript object ol optgroup option p param script section select style summary table tbody td"
    " template textarea tfoot th thead title tr ul video audio canvas map"
    " para item itemizedlist listitem entry row seg tu tuv source target string text note step".split()
)
HTML_TAGS = INLINE_TAGS | EMPTY_TAGS | BLOCK_TAGS
BREAKS = frozenset(("br", "hr", "wbr", "img"))
SENTENCE_BEGINS = rf"(?:^|[{END_MARKS}][{re.escape(ANY_CLOSING)}]*)\s*$"
TAG_PATTERN = r"(?s)(?:[<\[{]|&lt;)(/?)([A-Za-z][\w:.-]*|\d{1,3}|#(?=[\dA-Fa-f]))[^>]*?(/?)(?:[>\]}]|&gt;)$"
TAG_ATTRIBUTES = (
    rf"(?:\s(?:[^<>\"'{NOT_IN_SPANS}]|\"[^\"{NOT_IN_SPANS}]{{0,2000}}\"|'[^'{NOT_IN_SPANS}]{{0,2000}}')*+)?"
)
VALUE = rf"=(?:\"[^\"{NOT_IN_SPANS}]{{0,200}}\"|[^\s<>\"'/=]{{1,200}})"  # behind the name of a tag: <size=12>
WEB = r"(?i:https?://|www\.)"
LINK_TARGET = (
    rf"\((?!\s)[^()\s]{{1,300}}(?:\([^()\s]{{0,100}}\)[^()\s]{{0,300}})?(?:\s\"[^\"{NOT_IN_SPANS}]{{0,100}}\")?\)"
)
LINK_NAME = rf"\[[^\[\]{NOT_IN_SPANS}]{{0,60}}\]"
LINK_TEXT = (
    rf"[^\[\]{NOT_IN_SPANS}]|!\[[^\[\]{NOT_IN_SPANS}]{{0,100}}\](?:{LINK_TARGET}|{LINK_NAME})"  # perhaps a picture
)


def make_closed_tag(opening: str, closing: str, name: str) -> str:
    """Returns the pattern of a bracketed tag, which counts only if a tag of the same name closes it."""
    tag = rf"{opening}(?P<{name}>[A-Za-z]\w{{0,20}})(?:[= ][^{opening}{closing}{NOT_IN_SPANS}]{{1,200}})?{closing}"
    return rf"{tag}(?=(?s:.{{0,2000}}?){opening}/(?P={name}){closing})|{opening}/[A-Za-z]\w{{0,20}}{closing}"


@lru_cache(maxsize=1 << 12)
def parse_tag(markup: str) -> Pair | None:
    """Returns the pair that a tag opens or closes; None for anything else.

    Cached, since nested tags are parsed repeatedly.
    """
    if markup[0] == '"':
        return Pair('"', closes=len(markup) > 1)
    if markup[-1] in "[`" or markup[0] in "] ":
        return Pair("[" if "]" in markup or "[" in markup else "`", closes=markup[0] in "] ")
    match = re.match(TAG_PATTERN, markup)
    if match is None or match[3] or match[2].lower() in EMPTY_TAGS:
        return None
    return Pair("color" if match[2] == "#" else match[2], closes=bool(match[1]))


TAGS = Kind(
    SpanKind.TAG,
    form="taken out",
    patterns=(
        # Markup: a comment, a declaration, an instruction, or a tag, which may have a `>` within quotes.
        rf"<!--[^{NOT_IN_SPANS}]{{0,2000}}?-->|<[!?][A-Za-z\[][^<>{NOT_IN_SPANS}]{{0,2000}}>",
        rf"</?(?:[A-Za-z][\w:.-]*+|\d{{1,3}}+)(?:{VALUE})?{TAG_ATTRIBUTES}/?>|<#[\dA-Fa-f]{{3,8}}>",
        rf"&lt;/?[A-Za-z][\w:.-]{{0,30}}(?:\s[^<>{NOT_IN_SPANS}]{{0,200}}?)?/?&gt;",  # escaped
        # Forums and games: [b]here[/b], {color=#f00}here{/color}
        make_closed_tag(r"\[", r"\]", "square"),
        make_closed_tag(r"\{", r"\}", "brace"),
        # Links of Markdown: [here](https://example.org "Title"), ![a dog](dog.png)
        rf"(?<![\w\])!])!?\[(?=(?:{LINK_TEXT}){{1,300}}\]{LINK_TARGET})|\]{LINK_TARGET}",
        # References of reStructuredText: `here <https://example.org>`_, :ref:`here <name>`
        rf"(?<![\w`])(?::[a-z][a-z:+-]{{0,30}}:)?`(?=[^`<>{NOT_IN_SPANS}]{{1,300}}\s<[^`<>\s]{{1,300}}>`)"
        r"|\s<[^`<>\s]{1,300}>`_{0,2}",
        # Links of Textile: "here":https://example.org
        rf"(?<![\w\"])\"(?=[^\s\"][^\"{NOT_IN_SPANS}]{{0,300}}\":{WEB})|(?<=[^\s\"])\":{WEB}[^\s\"<>]*[\w/#=&-]",
    ),
    signs="<",
    cues=rf"[\[{{]/[A-Za-z]|\]\(|\":{WEB}|&lt;",
    finish=lambda tag: tag._replace(pair=parse_tag(tag.text)),
)


def parts_words(span: Span) -> bool:
    """Whether the texts before and after a span are separate words even without a space."""
    if span.kind is not SpanKind.TAG:
        return span.pair is None
    match = re.match(TAG_PATTERN, span.text)
    return match is None or match[2].lower() not in INLINE_TAGS


def remove_tags(text: str) -> str:
    """Returns a text as a reader sees it: without tags, some of which separate words."""
    if "<" not in text:
        return text
    return TAGS.pattern.sub(lambda tag: " " if parts_words(TAGS.read_match(tag)) else "", text).strip()


def is_block_tag(span: Span, pairs: Container[Pair]) -> bool:
    """Whether a span is a tag that separates sentences: a break, a paragraph, a list item, a note.

    A tag with an unknown name does so if it has no partner among the `pairs` of its line.
    """
    if span.kind is SpanKind.COMMAND:
        return span.pair is not None and span.pair.name in NOTES_OF_COMMANDS
    match = re.match(TAG_PATTERN, span.text) if span.kind is SpanKind.TAG and parts_words(span) else None
    if match is None or match[2].isdigit():
        return False
    if match[2].lower() in BLOCK_TAGS or span.pair is None:
        return match[2].lower() in BLOCK_TAGS
    return span.pair._replace(closes=not span.pair.closes) not in pairs


def stand_for_words(spans: Sequence[Span], text: str) -> list[Span]:
    """Turns tags that enclose nothing and separate no sentences into codes: `Open <name>.txt`, `Use the <title> tag.`

    A break within a sentence is taken out, so that the network reads the whole sentence.
    """
    if not any(span.kind is SpanKind.TAG for span in spans):
        return list(spans)
    partners = find_partners([span.pair for span in spans])
    result = list(spans)
    for index, span in enumerate(spans):
        if index not in partners and is_mentioned(span, text):
            is_break = span.text[1:-1].lower() in BREAKS
            kind = SpanKind.WRAP if is_break else SpanKind.CODE
            result[index] = span._replace(kind=kind, is_extracted=is_break, pair=None)
    return result


def is_mentioned(tag: Span, text: str) -> bool:
    """Whether a tag without a partner is a word of a sentence or the value of an option: `-m <message>`.

    An HTML tag can be a word only without attributes, and not at either end of a text.
    """
    match = re.fullmatch(r"</?([A-Za-z][\w.-]*)(?P<attributes>(?:[ =][^<>]*[^<>/])?)>", tag.text)
    # The few characters before first: texts of many tags would be read through for each.
    before, after = text[max(0, tag.start - REACH) : tag.start], text[tag.end : tag.end + REACH]
    touches = before[-1:].isalnum() or after[:1].isalnum() or before[-1:] in (*END_MARKS, *PAUSES, ">")
    if tag.kind is not SpanKind.TAG or match is None or touches:
        return False
    if re.search(BEFORE_VALUE, before):
        return True
    is_new, begins, behind = match[1].lower() not in HTML_TAGS, re.search(SENTENCE_BEGINS, before), after.lstrip()
    if not is_new and (match["attributes"] or begins or not behind):
        return False
    if not is_new and match[1].lower() in BREAKS and not before.rstrip()[-1:].islower():
        return False
    goes_on = behind[:1].islower() or (not after[:1].isspace() and behind[:1] not in "<")
    return goes_on if begins or (not is_new and match[1].lower() not in INLINE_TAGS) else True


# Elements whose content stays: <kbd>Ctrl</kbd>; in Markdown, between backticks; in manuals of GNU, `make'.
VERBATIM = "kbd|code|samp|var|pre"  # what is typed, printed or run
ELEMENT = rf"<(?:{VERBATIM})(?:\s[^<>{NOT_IN_SPANS}]{{0,200}})?>[^<>{NOT_IN_SPANS}]{{0,500}}</(?:{VERBATIM})>"
ELEMENTS = Kind(
    SpanKind.ELEMENT,
    patterns=(
        rf"{ELEMENT}(?: ?[+/-]? ?{ELEMENT}){{0,9}}",
        rf"\[(?P<verbatim>code|img)\][^\[\]{NOT_IN_SPANS}]{{1,300}}\[/(?P=verbatim)\]",
        rf"(?<![\w`])`(?:[^\s`'{NOT_IN_SPANS}]{{1,100}}'(?!\w)|[^`{NOT_IN_SPANS}]{{1,100}}`(?![\w`]))",
        # Formulas and units: H<sub>2</sub>O, m<sup>2</sup>
        r"(?<![^\W_])(?=[A-Za-z]{1,6}<sub>\d)(?:[A-Z][a-z]?(?:<sub>\d{1,3}</sub>)?){1,10}(?![^\W_])",
        r"(?<![^\W_])(?:[a-zµ]{1,2}|\d{1,6})<sup>[-+−]?\d{1,3}</sup>(?![^\W_])",
        # Mathematics: one letter, or a sign that no price has.
        r"(?<![\w$\\])\$(?=[A-Za-z]\$|[^$\s]{0,80}[\\^_=<>]|[^$]{0,80} [=<>+] )"
        rf"[^\s$](?:[^${NOT_IN_SPANS}]{{0,80}}[^\s$])?\$(?!\w)",
    ),
    signs="<`$",
    cues=r"\[(?:code|img)\]",
)


# Commands of LaTeX: the text in their last braces is translated, but that of these commands.
WITHOUT_TEXT = (
    r"(?:\w*cite\w*|(?:eq|page|name|auto|[cCv])?ref|label|index|gls\w*|begin|end|url|path|input|include\w*|usepackage|documentclass|bibliography\w*"
    r"|[hv]space|set\w+|(?:re)?newcommand|operatorname|SI|si|qty|num|unit|ang)(?![A-Za-z])"
)
COMMAND_ARGUMENT = rf"\{{[^{{}}{NOT_IN_SPANS}]{{0,200}}\}}"
COMMAND_OPTIONS = rf"\[[^\[\]{NOT_IN_SPANS}]{{0,80}}\]"
COMMAND_WITH_TEXT = (
    rf"\\(?!{WITHOUT_TEXT})(?P<name>[A-Za-z]{{2,30}})\*?(?:{COMMAND_OPTIONS})?(?:{COMMAND_ARGUMENT}(?=\{{))*\{{"
)


# What stands before a text, what each part of that text matches, and what stands behind it.
ENCLOSURES = (
    # Quotes of LaTeX, mail and manuals, where a backtick opens: ``the dog'', and of several words `the old dog'
    (r"(?<![\w`])``(?=[^\s`])", "[^`]", "''"),
    (r"(?<![\w`])`(?=[^\s`']{1,30} [^\s`'])", r"[^`']|(?<=\w)'(?=\w)", r"'(?!\w)"),
    # Cards of Anki: {{c1::Paris::a hint}}
    (r"\{\{c\d{1,2}::", "[^{}]", r"(?:::[^{}]{1,100})?\}\}"),
    # Links: [here][1] of Markdown, but not [ui][v2] It rains, [ME][NOW]; [[Page|here]] and [https://example.org here]
    # of wikis, [[https://example.org][here]] of Org, <https://example.org|here> of Slack, https://example.org[here]
    (
        r"(?<![\w\])!.])(?!\[\S{1,40}\]\[\S{1,40}\] [A-ZÀ-Þ](?![A-ZÀ-Þ]))!?\["
        r"(?=(?:[^\[\]]|!\[){0,300}(?:[^\W\dA-Z_]{2}|[A-Z]{2}\]\[[\da-z]))",
        *(LINK_TEXT, rf"\]{LINK_NAME}(?![\w(\[])"),
    ),
    (r"\[\[[^\[\]|]{1,200}\|", r"[^\[\]|]", r"\]\]"),
    (r"\[https?://[^\s\[\]]{1,300} ", r"[^\[\]]", r"\]"),
    (r"\[\[[a-z]{2,10}:[^\s\[\]]{1,300}\]\[", r"[^\[\]]", r"\]\]"),
    (r"<https?://[^\s|<>]{1,300}\|", "[^|<>]", ">"),
    (r"(?:link:|https?://)[^\s\[\]<>]{1,300}\[(?=[^\W\d_]+[\] ])", r"[^\[\]]", r"\]"),
)
BEFORE_ENCLOSED = [
    rf"{before}(?=(?:(?![{NOT_IN_SPANS}])(?:{inside})){{1,300}}?(?P<end{number}>{behind}))"
    for number, (before, inside, behind) in enumerate(ENCLOSURES)
]
QUOTED_BY = 2  # rows of quotes, which a translation may write in its own way
NOTES_OF_COMMANDS = frozenset(("footnote", "endnote", "marginpar", "thanks"))


def find_commands(kind: Kind, text: str, context: Context) -> Iterator[Span]:
    r"""Yields the marks around each text that a command, such as `\textbf{` and `}`, or other marks enclose."""
    for match in kind.pattern.finditer(text):
        name, group = match["name"] or match[0], match.lastgroup or ""
        closing, end = match[group], match.start(group)
        if match["name"]:
            closing, end = "}", find_end(text, match.end()) or 0
        is_code = "`" not in match[0] and text.count("`", 0, match.start()) % 2
        if end > match.end() and not is_code:
            yield kind.make_span(match.start(), match[0])._replace(pair=Pair(name, closes=False))
            yield kind.make_span(end, closing)._replace(pair=Pair(name, closes=True))


COMMANDS = Kind(
    SpanKind.COMMAND,
    form="taken out",
    patterns=(COMMAND_WITH_TEXT, *BEFORE_ENCLOSED),
    cues=r"\\[A-Za-z]+[\[{*]|`[^`]*'|\{\{c\d|[\]\w/[]\[|[\[<]http",  # which reads no character twice
    search=find_commands,
)


# Emoji, halves of them (U+FFFD), emoticons such as `:-)`, and signs after a word: `™`, `(!)`.
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


def cut_to_ellipsis(span: Span) -> Span:
    """Returns the ellipsis of a quoted menu entry, as in Click "Save as..."; other signs stay unchanged."""
    sign = re.sub(r"^.*\w", "", span.text) if span.text[0] in QUOTES else span.text
    return span._replace(start=span.end - len(sign), text=sign)


WORD_SIGNS = Kind(
    SpanKind.SIGN,
    form="taken out",
    patterns=(
        r"[®™℠](?!\ufe0f)|\([!?]{1,3}\)|\[sic\]",
        rf"(?<=[^\W\d_] )[{QUOTES}][\w -]{{2,40}}(?:\.{{3}}|…)(?=[{QUOTES}](?!\w))",
    ),
    signs="®™℠",
    cues=rf"\([!?]|\[sic|[.…][{QUOTES}]",
    finish=cut_to_ellipsis,
)


# HTML character references: `&amp;`, `&#39;`. `rewriting` decodes those for letters and quotes.
REFERENCE = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]{1,30}|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});")


def stands_for_word(reference: str) -> bool:
    """Whether a reference represents a symbol read as a word (&, ©, €) rather than a space or punctuation."""
    from html import unescape  # which few texts need

    character = unescape(reference)
    return len(character) > 1 or character == "&" or unicodedata.category(character)[0] not in "PZC"


def classify_reference(span: Span) -> Span:
    """Turns a reference that is read as a word into a symbol, which gets a placeholder; others are taken out."""
    is_word = not span.is_blank and stands_for_word(span.text)
    return span._replace(kind=SpanKind.SYMBOL, is_extracted=False) if is_word else span


REFERENCES = Kind(
    SpanKind.REFERENCE, form="taken out", patterns=(REFERENCE.pattern,), signs="&", finish=classify_reference
)


# Signs and words no prose has: `1½`, `CO₂`, `:name`, `[NAME]`, base64.
WORD_START = rf"(?<![^\s{re.escape(ANY_OPENING)}])"
TYPE = r"[A-Z]\w{0,40}(?:<[A-Z]\w{0,40})?|int|str|string|float|double|char|bool|long"
DATA = r"[\w+/=-]"  # base64, hexadecimal digits, sequences of genes
SHORTEST_DATA = 200  # characters, three times as many as the longest word of German law
CODES = Kind(
    SpanKind.CODE,
    patterns=(
        # Types of programs: std::vector<int>, Map<String, Integer>
        rf"(?<![\w:])(?:(?:\w{{1,40}}::){{1,6}}\w{{1,40}}|[A-Z]\w{{0,40}})<(?:{TYPE})(?:, ?(?:{TYPE})){{0,4}}>+",
        r"(?:(?<![\d.,/])\d{1,9} ?)?[¼-¾⅐-⅞]",
        rf"(?<![{LETTER}])(?=[A-Za-z]{{1,6}}[₀-₉])(?:[A-Z][a-z]?[₀-₉]{{0,3}}){{1,10}}(?![{LETTER}])",
        # Laravel, Rails, chats; Drupal: a mark that stands behind words, before one.
        rf"{WORD_START}::?[A-Za-z_]\w{{1,40}}:{{0,2}}(?![\w/:])|{WORD_START}![a-z_]\w{{1,40}}(?!\w|://)",
        # Python: *args before **kwargs, even if training had the word.
        r"(?<![\w*])\*{1,2}(?:kw)?args(?![\w*])",
        r"(?<![\w*])\*[a-z_]\w{0,40}(?=,? (?:\w{2,4} )?\*\*[a-z_]\w{0,40}(?![\w*]))",
        # Data, in a script with blanks.
        rf"(?<!{DATA})(?={DATA}{{{SHORTEST_DATA}}})(?:(?![{UNSPACED_LETTERS}]){DATA}){{{SHORTEST_DATA},}}",
        # LaTeX: commands without a text, with the tie before them that is a blank; signs that it reads as its own.
        rf"(?:(?<=\w)~)?\\{WITHOUT_TEXT}\*?(?:{COMMAND_OPTIONS}|{COMMAND_ARGUMENT}){{1,4}}|(?<!\S)\\[&%#$](?!\S)"
        r"|\\(?:no(?:indent|pagebreak)|new(?:page|line)|tableofcontents|today|tiny|ragged(?:right|left))(?![A-Za-z])",
        # Games: [item=iron-plate]; reStructuredText: [#note]_, [Smith20]_, |name|_, `the title of a section`_
        r"\[[a-z][\w-]{1,30}=[^\[\]\s]{1,80}\]|\[[#\w*][\w-]{0,40}\]_(?!\w)|(?<![\w|])\|\w[\w -]{0,60}\|_{1,2}"
        rf"|(?<![\w`:])`(?=\S)[^`<>{NOT_IN_SPANS}]{{1,100}}`_{{1,2}}(?!\w)",
        # The formula of an imprint, which the law has for all languages.
        r"(?<!\w)(?i:copyright)(?= (?:©|&copy;|\([cC]\)))",
        # Forms: a word in capitals within brackets, where it is not all there is.
        r"(?:(?<!^)(?<!\[)|^(?=.*[a-z]))\[[A-Z][A-Z_]{1,40}(?:_\d{1,3})?\](?!\])",
    ),
    signs=r"¼-¾⅐-⅞₀-₉:!\[<*|\\`~",
    cues=rf"{DATA}{{{SHORTEST_DATA}}}|(?i:copyright) [©&(]",
)


ADDRESS = (
    rf"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%{{}}-]|(?![{UNSPACED_LETTERS}])[^\W_]|(?<=[/=?&#_-])[{UNSPACED_LETTERS}]+)"
)
DOMAINS = "com|org|net|edu|gov|io|dev|app|info|eu|de|fr|es|ch|uk|jp|cn"


def cut_address(span: Span) -> Span:
    """Returns an address without trailing punctuation, which may belong to the sentence."""
    address = trim_address(span.text)
    return span._replace(end=span.start + len(address), text=address)


ADDRESSES = Kind(
    SpanKind.ADDRESS,
    patterns=(
        # Of a parameter: url=https://example.org, href="https://example.org"
        rf"(?<![{LETTER}])[A-Za-z_][\w-]{{0,30}}=(?P<quote>[\"']?)[a-z]{{2,20}}://{ADDRESS}+(?P=quote)",
        rf"(?<![{LETTER}])(?:[A-Za-z][A-Za-z0-9+.-]{{1,20}}://|www\.|mailto:){ADDRESS}+",
        rf"(?<![{LETTER}.+-])(?:(?![{UNSPACED_LETTERS}])[\w.+%-]){{1,64}}@(?:[^\W_]|-){{1,63}}(?:\.[A-Za-z0-9-]{{2,63}})+",
        rf"(?<![{LETTER}.-])(?:[A-Za-z0-9-]{{1,63}}\.){{1,5}}(?:{DOMAINS})(?![{LETTER}-])(?:[/?#]{ADDRESS}*)?",
    ),
    signs="@",
    cues=r"://|mailto:|www\.|\w\.[a-z]",
    finish=cut_address,
)


def trim_address(address: str) -> str:
    """Strips the sentence's trailing punctuation and an enclosing bracket from an address.

    >>> trim_address("https://en.wikipedia.org/wiki/Hund_(dog)).")
    'https://en.wikipedia.org/wiki/Hund_(dog)'
    """
    counts, end = Counter(address), len(address)
    while end:
        last = address[end - 1]
        opening = {")": "(", "]": "[", "}": "{"}.get(last)
        unbalanced = opening is not None and counts[opening] < counts[last]
        if not (unbalanced or last in f"{FINAL_MARKS}{PAUSES}'*_~"):
            break
        counts[last] -= 1
        end -= 1
    return address[:end]


# The sign before a letter of a menu: `_File`, `Save &As`, `~Edit`. It stands at the beginning of a word, outside every
# other span. Within a word it is a part of it (`data_type`, `R&D`, `?q=x&p=y`), unless a file declares the sign: then
# `E&xit` is read as `&Exit`, since in a translation the sign precedes a word, wherever in the word it was in the
# source.
LONGEST_LABEL = 60  # characters of a text that may be an entry of a menu
BEHIND_BLANK = rf"(?<![^\s{re.escape(OPENING)}])"
BEFORE_BLANK = rf"(?=[{re.escape(END_MARKS + PAUSES + ANY_CLOSING)}]*(?:\s|$))"
AT_WORD = (
    rf"{BEHIND_BLANK}[&_~](?=[^\W\d_])"
    rf"|(?<=[{COVERS}])[&_~](?=[A-ZÀ-Þ][^{COVERS}]*[{COVERS}]+$)"  # in a pair of tags: <b>_File</b>
)
# Where a declared sign may stand within a word: the word before it, and behind it. Names of programs have underscores
# between small letters, and between capitals.
SMALL_LETTERS = r"(?:(?![^\W\d_]*[A-ZÀ-Þ])[^\W\d_]+)"
IN_WORD = {
    "&": rf"(?P<before>[^\W\d_]+)(?P<sign>&)(?P<after>{SMALL_LETTERS})",
    "~": rf"(?P<before>[^\W\d_]+)(?P<sign>~)(?P<after>{SMALL_LETTERS})",
    "_": rf"(?P<before>[A-ZÀ-Þ][^\W\d_]*)(?P<sign>_)(?P<after>{SMALL_LETTERS})",
}


def find_accelerator(kind: Kind, text: str, context: Context) -> list[Span]:
    """Returns the accelerator sign of a text that contains only one, but not the sign of a variable: `&var`."""
    signs = list(kind.find_matches(text))
    is_only = len(signs) == 1 and text.count(signs[0].text) == 1
    return signs if is_only and not is_variable(signs[0], text, context) else []


ACCELERATORS = Kind(SpanKind.ACCELERATOR, form="taken out", patterns=(AT_WORD,), signs="&_~", search=find_accelerator)


def move_to_word(text: str, sign: str, spans: Sequence[Span]) -> str:
    """Moves the declared accelerator `sign` of a menu entry or button to the front of the word that contains it.

    Leaves long texts, texts with several signs, and anything in `spans` unchanged.
    """
    if sign not in IN_WORD or len(text) > LONGEST_LABEL or text.count(sign) != 1:
        return text
    word = re.search(BEHIND_BLANK + IN_WORD[sign] + BEFORE_BLANK, cover_spans(text, spans))
    return text if word is None else f"{text[: word.start()]}{sign}{word['before']}{word['after']}{text[word.end() :]}"


# Texts to choose from, in a message of ICU: `{count, plural, one {# file} other {# files}}`; in one of Java:
# `{0,choice,0#no files|1#one file|1<{0} files}`. Braces nest to depth 3.
CHOICE_HEAD = r"\{\s*[\w.-]{1,60}\s*,\s*(?:plural|select|selectordinal|choice)\s*,"
CHOICE = rf"{CHOICE_HEAD}(?:[^{{}}]++|\{{(?:[^{{}}]++|\{{(?:[^{{}}]++|\{{[^{{}}]*+\}})*+\}})*+\}})*+\}}"
# Texts by intervals of numbers, as i18next writes them: `(0){no items};(1){one item};(2-inf){items};`
INTERVAL = r"\(\d+(?:-(?:\d+|inf))?\)\{"
INTERVALS = rf"(?:{INTERVAL}[^{{}}]*+(?:\{{[^{{}}]*+\}}[^{{}}]*+)*+\}};?\s*)+"
CHOICES = Kind(SpanKind.CHOICE, patterns=(CHOICE, INTERVALS), signs="{")
CHOICE_GAP = r"(?:\s|\\[nrt])*"  # a line break may be escaped
SELECTOR = re.compile(rf"{CHOICE_GAP}(?:offset:\d+\s+)?(?:=\d+|[\w<>-]+){CHOICE_GAP}\{{")
# A file of properties may escape the sign.
LIMIT = re.compile(rf"{CHOICE_GAP}-?(?:\d+(?:\.\d+)?|∞){CHOICE_GAP}\\?[#<≤]")


class ChoicePart(NamedTuple):
    """A part of a choice: syntax, which is kept, or one of its texts."""

    text: str
    is_text: bool


def split_choice(choice: str) -> list[ChoicePart] | None:
    """Splits a choice into alternating syntax and texts; None if it is malformed.

    >>> [part.text for part in split_choice("{n, plural, one {# file} other {# files}}")]
    ['{n, plural, one {', '# file', '} other {', '# files', '}}']
    """
    head = re.match(CHOICE_HEAD, choice)
    if head is None:
        return split_intervals(choice) if re.match(INTERVAL, choice) else None
    selector, bar, ending = (LIMIT, "|", "}") if "choice" in head[0] else (SELECTOR, "", "}}")
    parts: list[ChoicePart] = []
    syntax, position = head[0], head.end()
    while match := selector.match(choice, position):
        end = find_end(choice, match.end(), bar)
        if end is None:
            return None
        parts += [ChoicePart(syntax + match[0], False), ChoicePart(choice[match.end() : end], True)]
        syntax, position = choice[end], end + 1
    rest = syntax + choice[position:]
    if not parts or re.sub(CHOICE_GAP, "", rest) != ending:
        return None
    return [*parts, ChoicePart(rest, False)]


def split_intervals(choice: str) -> list[ChoicePart]:
    """Splits texts that are chosen by number intervals into alternating syntax and texts.

    >>> [part.text for part in split_intervals("(0){no items};(1){one item};")]
    ['(0){', 'no items', '};(1){', 'one item', '};']
    """
    parts: list[ChoicePart] = []
    position = 0
    for match in re.finditer(INTERVAL, choice):
        end = find_end(choice, match.end())
        if end is not None:
            parts += [ChoicePart(choice[position : match.end()], False), ChoicePart(choice[match.end() : end], True)]
            position = end
    return [*parts, ChoicePart(choice[position:], False)]


def find_end(text: str, start: int, bar: str = "") -> int | None:
    """Returns the position of the brace that closes the one before `start`, or of an earlier `bar`; None if missing."""
    depth = 1
    for match in re.compile("[{}|]").finditer(text, start):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0 or (depth == 1 and match[0] == bar):
            return match.start()
    return None


# Program placeholders of every language that gettext knows; documents compare a translation with its source by them.
OWN = r"⟦\d⟧"  # text that looks like what a masked span becomes
NAME = r"[A-Za-z_](?:[\w.-]{0,40}\w)?"
BETWEEN_SIGNS = "|".join(
    rf"(?<!\w){sign}{{1,2}}{NAME}{sign}{{1,2}}(?!\w)" for sign in ("#", "@", r"\|", r"\^", "§", "!!")
)
PLACEHOLDER_SYNTAXES = (
    # Between signs: ERB and ASP, Template Toolkit, Mailchimp, wikis, Java, Python, Chrome, Windows, MFC.
    rf"<%[^%{NOT_IN_SPANS}]{{0,80}}%>|\[%[^%{NOT_IN_SPANS}]{{0,80}}%\]|\*\|[^|*{NOT_IN_SPANS}]{{1,60}}\|\*",
    rf"\[\[[^\[\]{NOT_IN_SPANS}]{{1,60}}\]\]|<<[^<>{NOT_IN_SPANS}]{{1,60}}>>|\(\({NAME}\)\)",
    rf"%%{NAME}%%|%(?![sd]){NAME}%(?!%)|%[sd][\w.-]{{0,40}}\w%(?![\w%])|\${NAME}\$|__[A-Z]{{2,20}}__[\w-]{{1,60}}?__|__(?:[A-Za-z](?:[\w.-]{{0,40}}?[^\W_])?|\d{{1,2}})__",
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
# As text: compiled at its first use.
ANY_PLACEHOLDER = "|".join((CHOICE, *BEFORE_ENCLOSED[QUOTED_BY:], COMMAND_WITH_TEXT, *PLACEHOLDER_SYNTAXES))
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
    """Yields the placeholders of a message and the syntax of its choices, without spaces."""
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
