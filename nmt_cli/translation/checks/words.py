"""Checks for unseen, copied, repeated, left-out or renamed words, and for the language of the source."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.carrying.people import COPIED_NAMES, find_missing_names
from nmt_cli.carrying.spans import Attempt, Context
from nmt_cli.carrying.syntax import remove_tags
from nmt_cli.languages.codes import find_other_language
from nmt_cli.languages.rules import find_rules
from nmt_cli.text.characters import DOUBLE_QUOTES
from nmt_cli.text.lexicon import FEWEST_LETTERS, fold, list_rated
from nmt_cli.text.normalise import find_unspaced, normalise
from nmt_cli.text.symbols import BLANK, SENTENCE_END
from nmt_cli.text.words import APOSTROPHE, EDGES, choose_word_pattern, has_letters, list_words, split_words
from nmt_cli.text.wrapping import join_first
from nmt_cli.translation.repair.faults import LONGEST_PHRASE, has_stutter, split_units, strip_words
from nmt_cli.translation.result import NO_TRANSLATION, FailedCheck, Placed
from nmt_cli.translation.segmentation.segments import find_sentence_starts, has_mark_inside

if TYPE_CHECKING:
    from nmt_cli.arrays.types import FloatArray
    from nmt_cli.carrying.glossary import Glossary
    from nmt_cli.text.profile import CorpusProfile, LengthRatio, TextProfile
    from nmt_cli.translation.result import Translation


# The facts that checks use besides a source and its translation. Knows only text.


class CheckContext(NamedTuple):
    """The facts that checks use in addition to the two texts."""

    source_language: str = ""  # a code of two or three letters, by which number words are known
    target_language: str = ""
    reads_text: bool = True  # whether a source is text; of a picture, only the translation itself can be checked
    profile: CorpusProfile | None = None  # of the training text; None: its words and lengths are not known
    placed: Sequence[Placed] | None = None  # the spans that were put into the translation; None: not known
    glossary: Glossary | None = None
    is_rated: bool = False  # whether the model rates its confidence, which unseen words lower

    def find_ratio(self, length: int) -> LengthRatio | None:
        """Returns the length ratio in training for sources of `length` characters; None if unknown."""
        return self.profile.find_ratio(length) if self.profile is not None and length else None

    @property
    def facts(self) -> Context:
        """The facts that kinds of spans use to find what is lost."""
        languages, profile = (self.source_language, self.target_language), self.profile
        if profile is None or profile.source is None:
            return Context(languages)
        return Context(
            languages,
            find_missing_names=partial(find_missing_names, source=profile.source, target=profile.target),
            keeps_digits=profile.marks.keeps_digits,
        )

    @property
    def same_language(self) -> bool:
        return bool(self.source_language) and self.source_language == self.target_language


TextComparison = Callable[[str, str, CheckContext], FailedCheck | None]  # of a source and its translation
Inspection = Callable[["Translation", CheckContext], FailedCheck | None]


# Finds words in capitals that a translation replaces by others, such as the functions of spreadsheets. Knows text.


CODE_WORD = r"[\w/]+"
CODE_PARTS = r"\d+|(?<=\b\w)/(?=\w\b)"  # what belongs to such a name; a slash only between two letters: N/A
FEWEST_CAPITALS = 2


def drop_renamed(source: str, target: str) -> tuple[str, str]:
    """Returns both texts; words in capitals that the translation renames lose their digits and slashes.

    A word that the other text has without its digits is damaged, not renamed, and stays unchanged.

    >>> drop_renamed("=OCT2BIN(3) or #N/A", "=OKTINBIN(3) oder #NV")
    ('=OCTBIN(3) or #NA', '=OKTINBIN(3) oder #NV')
    """
    before, after = (Counter(filter(is_in_capitals, re.findall(CODE_WORD, text))) for text in (source, target))
    lost, added = before - after, after - before
    names = [{re.sub(CODE_PARTS, "", word) for word in words} for words in (lost, added)]
    if lost.total() != added.total() or not names[0].isdisjoint(names[1]):
        return source, target
    for word in sorted({*lost, *added}, key=len, reverse=True):
        bare = re.sub(CODE_PARTS, "", word)
        source, target = source.replace(word, bare), target.replace(word, bare)
    return source, target


def is_in_capitals(word: str) -> bool:
    """Whether a word has several letters, all of them capitals."""
    return word.isupper() and sum(map(str.isalpha, word)) >= FEWEST_CAPITALS


# Looks for content words and labels that nothing in a translation stands for. Knows attention, but no network.
#
# The evidence is that the translation does not need a word (`repair.asks.LEFT_OUT`) or, if it was read back by a model
# of the other direction, the little attention that the word received and the probability that this model gives to it.


# Chosen on 1,000 development pairs of each direction, so that at most 1 % of the references fail
# (benchmarks/log/left-out.md). Attention is measured in target subwords.
READ_BACK = ((0.3, -5.0), (1.0, -14.0))  # attention and log-probability below which a word has no translation
TEXTS_PER_WORD = 150  # a word that occurs in more training texts than one of so many is a function word
TEXTS_PER_LINK, LONGEST_LINK = 100, 4  # training texts, letters: what is more frequent and shorter links words
LEAST_SURE = -0.7  # mean log-probability of a token, below which the wording may be free, as a person's is
MOST_CHANCE = 0.3  # how likely a right translation has other words than the usual ones, at most
HARDLY_READ = 1  # occurrences of a word that the network cannot know
CHANCE_IF_HARDLY_READ = 0.1  # that it knows it nevertheless
NEW_WORDS_RARE = 0.01  # largest share of new words of a language in which such a word is rare
SHARED_LETTERS = 4  # at the beginning of a word and its likely translation: "pilot", "Pilotin"


class SourceWord(NamedTuple):
    """A word as the network read it, and the attention that it received, measured in target subwords."""

    text: str
    attention: float


def check_coverage(translation: Translation, context: CheckContext) -> FailedCheck | None:
    """Finds content words without a translation."""
    profile = context.profile
    if profile is None or profile.source is None or translation.is_recalled:
        return None
    neglected = find_neglected(translation) if translation.read_back is not None else ()
    lost = [word.text for word in neglected if lacks_translation(word, translation, profile.source)]
    lost += [word for word in translation.left_out if word.lower() not in translation.text.lower()]
    lost += list_unusual(translation, profile) or list_beside_spans(translation, profile) if not lost else ()
    lost += COPIED_NAMES.find_lost(Attempt.from_texts(translation.source, translation.text), context.facts).missing
    known = find_rules(context.source_language).fillers | list_guided(translation, profile)
    missing = [word for word in lost if word.lower() not in known]
    return FailedCheck("untranslated", f"{NO_TRANSLATION}{join_first(missing)}") if missing else None


def list_unusual(translation: Translation, profile: CorpusProfile) -> list[str]:
    """Returns the source words that a confident translation lacks, if a correct one would hardly lack them all.

    It lacks a word if it has none of the word's usual translations, or if training hardly ever had the word.
    """
    values = translation.hypotheses[0].token_log_probabilities
    if profile.source is None or sum(values) <= LEAST_SURE * len(values) or not profile.lexicon.entries:
        return []
    read = "".join(translation.source_pieces).replace(BLANK, " ")
    source = translation.source if translation.origin == "memory_part" else read  # which has no recalled sentences
    guided, text = list_guided(translation, profile), translation.text.lower()
    words = [word for word in list_rated(read) if word in source.lower() and word not in {*guided} and word not in text]
    written = {word.lower(): word for word in choose_word_pattern(read).findall(read)}
    ordinary = [word for word in words if written.get(word) == word]
    unread = list_hardly_read(ordinary, translation.text, profile.source)
    chances = dict.fromkeys(unread, CHANCE_IF_HARDLY_READ) | profile.lexicon.rate(words, translation.text)
    missed = {word: chance for word, chance in chances.items() if chance}
    is_telling = missed and math.prod(missed.values()) <= MOST_CHANCE
    return [written.get(word, word) for word in missed] if is_telling else []


def list_guided(translation: Translation, profile: CorpusProfile) -> frozenset[str]:
    """Returns the source words whose translation comes from guiding pairs of a memory, however rare in training.

    The translation shares at least as many content words with such a pair as the source does.
    """
    sides = ((translation.source, profile.source), (translation.text, profile.target))
    guided: set[str] = set()
    for pair in translation.guides:
        shared = [
            [
                word
                for word in {*split_words(text)} & {*split_words(other)}
                if is_content_word(word, "", of, TEXTS_PER_WORD)
            ]
            for (text, of), other in zip(sides, pair, strict=True)
            if of is not None
        ]
        guided.update(shared[0] if len(shared[0]) <= len(shared[-1]) else ())
    return frozenset(guided)


def list_beside_spans(translation: Translation, profile: CorpusProfile) -> list[str]:
    """Returns the source's content words if the translation has only spans and fewer words, all of grammar: `%1 in %2`.

    Returns none if a span is written differently from the source, because it may translate words.
    """
    texts = translation.source, translation.text
    spans = [span.text for span in translation.placed]
    if not spans or profile.source is None or not all(span and span in texts[0] for span in spans):
        return []
    words, written = (list_words(re.sub("|".join(map(re.escape, spans)), " ", text)) for text in texts)
    least = profile.target.texts / TEXTS_PER_LINK
    is_grammar = (len(word) <= LONGEST_LINK and profile.target.count_word(word) >= least for word in written)
    if len(written) >= len(words) or not all(is_grammar):
        return []
    return [word for word in words if is_content_word(word, translation.text, profile.source, TEXTS_PER_WORD)]


def list_hardly_read(words: Iterable[str], target: str, profile: TextProfile) -> list[str]:
    """Returns the words that are rare in training, unless a target word begins in the same way."""
    if profile.unseen_share > NEW_WORDS_RARE:
        return []
    rare, folded = [word for word in words if profile.count_word(word) <= HARDLY_READ], fold(target)
    return [word for word in rare if fold(word)[: 1 + SHARED_LETTERS] not in folded]


def check_labels(translation: Translation, context: CheckContext) -> FailedCheck | None:
    """Finds labels that stay untranslated because the network finds no likely translation."""
    return FailedCheck("labels", f"not translated: {join_first(translation.kept)}") if translation.kept else None


def lacks_translation(word: SourceWord, translation: Translation, profile: TextProfile) -> bool:
    """Whether a word that received little attention is a content word that is unlikely to be read back."""
    key = word.text.lower()
    if not is_content_word(key, translation.text, profile, TEXTS_PER_WORD):
        return False
    likelihood = (translation.read_back or {}).get(key, 0.0)
    return any(word.attention < attention and likelihood < least for attention, least in READ_BACK)


def is_content_word(word: str, translation: str, profile: TextProfile, texts_per_word: int) -> bool:
    """Whether a word is not copied to the translation and occurs in at most one of `texts_per_word` training texts."""
    key = word.lower()
    if len(key) < FEWEST_LETTERS or profile.count_word(key) * texts_per_word > profile.texts:
        return False
    return has_letters(key) and not any(map(str.isdigit, key)) and key not in translation.lower()


def find_neglected(translation: Translation) -> Iterator[SourceWord]:
    """Yields the words of a source that received little attention from the best hypothesis, piece by piece."""
    most = max(attention for attention, _ in READ_BACK)
    best, row, column = translation.hypotheses[0], 0, 0
    for attention in best.attentions:
        rows, columns = attention.shape
        source = translation.source_pieces[column : column + columns]
        target = best.pieces[row : row + rows]
        row, column = row + rows, column + columns
        if source[-1:] != (SENTENCE_END,):
            continue  # a picture
        received = sum_attention(attention, finished=target[-1:] == (SENTENCE_END,))
        if received is not None and received.min(initial=most) < most:
            yield from (word for word in measure_source_words(source[:-1], received) if word.attention < most)


def sum_attention(attention: FloatArray, *, finished: bool) -> FloatArray | None:
    """Returns the attention (S - 1) that each source subword received from all target subwords (T, S).

    Without the ends of the sentences, the attention of each target subword sums to 1; None for a network without
    attention.
    """
    inner = attention[: -1 if finished else None, :-1]
    sums = inner.sum(axis=1, keepdims=True)
    if not inner.size or not sums.all():
        return None
    received: FloatArray = (inner / sums).sum(axis=0)
    return received


def measure_source_words(pieces: Sequence[str], received: FloatArray) -> list[SourceWord]:
    """Returns the words that subwords spell, each with the attention of its subwords and the punctuation around it."""
    from nmt_cli.translation.placement.alignment import drop_silent, group_by_blanks, spell_word  # rarely needed

    groups = drop_silent(pieces, group_by_blanks(pieces))
    return [SourceWord(spell_word(pieces, group), float(received[group].sum())) for group in groups]


# Looks for sources that are already in the target language, or in a third one. Knows text and the profiles of both
# sides. The identifier of languages, which takes a second to load, reads only lines full of unknown words.


FEWEST_WORDS = 3  # which tell a language surely
ENOUGH_LETTERS = 5  # which tell a script
SURE = 15.0  # natural logarithm of how much likelier the words are in the target language
SMOOTHING = 0.5  # added to the count of each word
WORDS_PER_UNKNOWN = 3  # at most so many words of a text for each that training never had, in another language


def check_language(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Finds a source whose words belong to the target language, and not to a third language."""
    counts = count_on_both_sides(source, context)
    likelier = sum(math.log((there + SMOOTHING) / (here + SMOOTHING)) for here, there in counts)
    is_sure = len(counts) >= FEWEST_WORDS and likelier >= SURE
    if not is_sure or check_other_language(source, target, context) is not None:
        return None
    return FailedCheck("language", "the source is already in the target language")


def check_other_language(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Finds a source in a third language, if many of its words or letters never occurred in training."""
    counts, is_unread = count_on_both_sides(source, context), has_other_letters(source, context)
    is_full = len(counts) >= FEWEST_WORDS and sum(not here for here, _ in counts) * WORDS_PER_UNKNOWN >= len(counts)
    other = None
    if is_full or is_unread:
        other = find_other_language(source, (context.source_language, context.target_language))
    if other is not None:
        return FailedCheck("other language", f"the source looks like {other.language.name}")
    return FailedCheck("other language", "the source has letters unseen in training") if is_unread else None


def has_other_letters(source: str, context: CheckContext) -> bool:
    """Whether most letters of a text never occurred in training, as in another script."""
    profile = context.profile
    if profile is None or profile.source is None or source.isascii():
        return False
    letters = [character for character in unicodedata.normalize("NFKC", source) if character.isalpha()]
    others = sum(letter not in profile.source.characters for letter in letters)
    return len(letters) >= ENOUGH_LETTERS and 2 * others > len(letters)


def count_on_both_sides(source: str, context: CheckContext) -> list[tuple[int, int]]:
    """Returns how often each word occurs in the training text of each side; empty for texts of one or two words."""
    profile = context.profile
    if profile is None or profile.source is None or context.same_language or len(source.split()) < FEWEST_WORDS:
        return []
    return [*zip(profile.source.count_words(source), profile.target.count_words(source), strict=True)]


# Looks for unseen, copied and repeated words in a translation. Knows only text.


SIGN = r"(?<!\S)[^\w\s]+(?!\S)"  # on its own: Tools - Macros - Organize Macros
PARTS_PHRASES = rf"{SIGN}|:(?=\s)|\n"  # which may begin as the one before: Text: Text color
REPEATED_WORDS = 3  # words of a phrase that a sentence hardly has twice
CONTENT_LETTERS = 4  # letters of a word that is seldom a function word
COPIED_WORDS = 3  # ordinary words in a row that two languages seldom share
COPIED_PAIRS = 4  # pairs of characters, where a script has no blanks
UNSEEN_OFTEN = 0.1  # as an expected share of a new text, new words are usual; 5,000 ordinary pairs have 4 to 9 %
WORDS_PER_ONE, WORDS_PER_SEVERAL = 2, 3  # at most so many words of a text for each unseen one are an alarm


def check_copy(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Finds three consecutive ordinary source words that stay untranslated outside spans."""
    if context.same_language:
        return None
    for span in context.placed or ():
        target = target.replace(span.text, " . ") if has_letters(span.text) else target
    if len(set(source.split()) & set(target.split())) < COPIED_WORDS and not find_unspaced(source):
        return None  # fast for nearly all translations
    words, target_words = split_units(normalise(source)), split_units(target)
    size = COPIED_PAIRS if find_unspaced(source) else COPIED_WORDS
    runs = {tuple(words[index : index + size]) for index in range(len(words) - size + 1)}
    for index in range(len(target_words) - size + 1):
        run = tuple(target_words[index : index + size])
        if run in runs and all(word.isalpha() and word == word.lower() for word in run):
            return FailedCheck("copied", f"not translated: {' '.join(run)}")
    return None


def check_repeats(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Finds a word or phrase twice in a row, or a longer phrase twice in a sentence, unless the source repeats it.

    Sentences are checked one by one, because one may begin like the one before, or with its last word.
    """
    source, target = remove_tags(source), remove_tags(target)
    message = find_repeat(source, target, context) or find_phrase_again(source, target)
    if message and has_mark_inside(source):
        starts = [*find_sentence_starts(target, (), context.target_language), len(target)]
        sentences = [target[start:end] for start, end in pairwise(starts)]
        again = (find_repeat(source, text, context) or find_phrase_again(source, text) for text in sentences)
        message = next(filter(None, again), "")
    return FailedCheck("repeats", message) if message else None


def find_phrase_again(source: str, target: str) -> str:
    """Names a phrase that occurs twice in a sentence, if the source repeats no long word, number or pair of words.

    This is true of at most 6 in 10,000 references, where the source repeats a phrase in other words.
    """
    words = [word for word in strip_words(target) if word]
    if len(words) - len({*words}) < REPEATED_WORDS:
        return ""
    phrases = Counter(zip(*(words[start:] for start in range(REPEATED_WORDS)), strict=False))
    again = next((phrase for phrase, times in phrases.items() if times > 1 and any(map(is_long, phrase))), None)
    read = strip_words(source)
    repeats = Counter([*filter(is_long, read), *pairwise(read)]).values()
    return f"twice: {' '.join(again)}" if again and max(repeats, default=1) < 2 else ""


def is_long(word: str) -> bool:
    """Whether a word is a number, or is too long to be a likely function word."""
    return len(word) >= CONTENT_LETTERS or word.isdecimal()


def find_repeat(source: str, target: str, context: CheckContext) -> str:
    """Names a word or phrase that occurs twice in a row within a clause, unlike in the source."""
    words = [word.strip(EDGES) for word in target.casefold().split()]
    repeated = len(words) - len({*words})
    # A phrase of two words that stands twice in a row repeats two words; a single one stands beside itself.
    is_apart = repeated == 1 and not any(word == following for word, following in pairwise(words))
    if not repeated or is_apart or not has_stutter(source, target):
        return ""
    clauses = (clause for clause in re.split(PARTS_PHRASES, target) if has_stutter(source, clause))
    phrases = (find_repeated_phrase(strip_words(clause)) for clause in clauses)
    unusual = next((phrase for phrase in phrases if not may_be_doubled(phrase, target, context)), "")
    return unusual and f"twice in a row: {unusual}"


def may_be_doubled(phrase: str, text: str, context: CheckContext) -> bool:
    """Whether a repetition is no fault: the language doubles the word, a frequent word ends a clause and begins the
    next (`die, die`), or an item begins a longer one (`Font, Font Effects`).
    """
    item = rf"(?i)(?<!\w){re.escape(phrase)}[,{DOUBLE_QUOTES}]+\s+[{DOUBLE_QUOTES}]?{re.escape(phrase)}\s\w"
    if phrase in find_rules(context.target_language).doubled or re.search(item, text):
        return True
    is_parted = re.search(rf"(?i)(?<!\w){re.escape(phrase)},\s+{re.escape(phrase)}(?!\w)", text) is not None
    profile = context.profile.target if context.profile is not None else None
    return is_parted and profile is not None and profile.count_word(phrase) * TEXTS_PER_WORD > profile.texts


def find_repeated_phrase(words: Sequence[str]) -> str:
    """Returns the shortest phrase that occurs twice in a row; empty if there is none."""
    for size in range(1, min(len(words) // 2, LONGEST_PHRASE) + 1):
        run = 0  # words that equal those `size` words later
        for index, (word, later) in enumerate(zip(words, words[size:], strict=False), start=1):
            run = run + 1 if word == later else 0
            if run == size:
                return " ".join(words[index - size : index])
    return ""


def check_words(source: str, target: str, context: CheckContext) -> FailedCheck | None:
    """Finds words unseen in training, if the model cannot estimate its confidence.

    Unseen words are reported if they are half of a text, or at least two words and a third of the source. A word in
    both texts does not count, because it is a name or was copied. A side whose training text is so small that any text
    has unseen words is ignored. If the model can estimate its confidence, a low one names the words instead:
    translations with unseen words but higher confidence are as good as others (benchmarks/log/references.md).
    """
    if context.profile is None or context.profile.source is None or context.is_rated:
        return None
    side, profile = "source", context.profile.source
    unseen, count = find_unseen_words(source, target, profile)
    if not (len(unseen) * WORDS_PER_ONE >= count or (len(unseen) > 1 and len(unseen) * WORDS_PER_SEVERAL >= count)):
        unseen = []
    if not unseen:
        side, profile = "translation", context.profile.target
        unseen, count = find_unseen_words(target, source, profile)
        unseen = unseen if len(unseen) * WORDS_PER_ONE >= count else []
    return FailedCheck("unseen words", describe_unseen(unseen, side, profile)) if unseen else None


def describe_unseen(words: Iterable[str], side: str, profile: TextProfile) -> str:
    """Says that training had none of these words on a side, as far as that side's profile shows."""
    never = "never" if profile.has_all_words else "hardly ever"
    return f"words in the {side} {never} seen in training: {join_first(words)}"


def find_unseen_words(text: str, other: str, profile: TextProfile) -> tuple[list[str], int]:
    """Returns the words that are in neither the `other` text nor the training text, and the total number of words."""
    parts = text.split()
    if profile.unseen_share > UNSEEN_OFTEN or 0 not in profile.count_words(text):
        return [], len(parts)  # fast for most texts
    other = other.lower()
    new = dict.fromkeys(word for part in parts for word in list_words(part) if not is_seen(word, profile))
    words = [word for word in new if word not in other]
    return words, sum(max(1, len(list_words(part))) for part in parts) if words else len(parts)


def is_seen(word: str, profile: TextProfile) -> bool:
    """Whether training had a word, perhaps with another apostrophe or in a compatibility form: Ｈｅｌｌｏ, ﬁne."""
    if profile.words.apostrophe:
        word = APOSTROPHE.sub(profile.words.apostrophe, word)
    return profile.has_word(word) or (not word.isascii() and profile.has_word(unicodedata.normalize("NFKC", word)))
