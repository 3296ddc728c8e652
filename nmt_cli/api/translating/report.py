"""The report after a translation. It counts events line by line, and is printed once, after the last line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nmt_cli.api.translating.outputs import OF_LANGUAGES, FileSummaries
from nmt_cli.documents.document import Document, Location, TornText
from nmt_cli.errors import DataError, FailedLineError
from nmt_cli.jobs.units import TranslationExecutor
from nmt_cli.text.wrapping import format_count, join_first, shorten_text
from nmt_cli.translation.result import NO_TRANSLATION, CheckError, SourceCuts, describe_limits

if TYPE_CHECKING:
    from nmt_cli.carrying.glossary import Glossary
    from nmt_cli.runtime.model_directory import ModelCard
    from nmt_cli.translation.config import CheckOptions
    from nmt_cli.translation.memory.lookup import TranslationMemory
    from nmt_cli.translation.result import CheckKind, Fault, Placed, Rival, Translation
    from nmt_cli.visuals.qa_report import QaReport


# Words for a message: the first few of them, and how many there are, in memory that does not grow with them.


WORDS_SHOWN = 5


@dataclass
class FirstWords:
    """The number of words, and the first distinct ones: as many as are shown, and one more."""

    total: int = 0
    first: dict[str, None] = field(default_factory=dict)

    def add(self, words: Iterable[str]) -> None:
        for word in words:
            self.total += 1
            if len(self.first) <= WORDS_SHOWN:
                self.first[word] = None

    @property
    def shown(self) -> str:
        """The first words, joined by commas."""
        return join_first(self.first, WORDS_SHOWN)


LINES_MOST = 6  # of all remarks about a run
LINES_SHOWN = 5  # numbers of the lines that fail a check
SPANS_SHOWN = 5  # of the protected spans that a person should look at
CHARACTERS_SHOWN = 20
REPAIRED = "repaired"  # the kind of texts that were translated again with success
NO_TERM = "no term of the glossary occurs in the text"
PAIR_SHOWN = 40  # characters of the source of a pair of a memory
UNMATCHED = "pairs of the translation memory that match no text"


@dataclass
class Failing:
    """A text that failed a check: its file if there are several, its place there, and how often it occurs there."""

    file: str
    thing: str  # the kind of place: a line, or a text by its number; empty for a verse or a cell
    name: str
    source: str
    times: int = 1

    def __str__(self) -> str:
        return self.name + (f" [{format_count(self.times, 'time')}]" if self.times > 1 else "")


class Remark(NamedTuple):
    """A remark about a translation, for a person to read."""

    text: str
    brief: str = ""  # what is left of it beside many others; by default, all
    is_warning: bool = True
    is_dim: bool = False


@dataclass
class TranslationReport:
    """Counts everything that deserves a warning at the end, translation by translation."""

    unseen_characters: set[str] = field(default_factory=set)
    unknown: FirstWords = field(default_factory=FirstWords)  # words outside a vocabulary of words
    misread: FirstWords = field(default_factory=FirstWords)  # words that were read as known words
    carried: FirstWords = field(default_factory=FirstWords)  # unknown words that were taken for names
    truncated: int = 0  # translations that reached the length limit
    spans: int = 0
    doubtful_spans: int = 0
    first_doubtful: list[Placed] = field(default_factory=list)
    repairs: Counter[Fault] = field(default_factory=Counter)  # faults that a remedy helped against
    untranslated: FirstWords = field(default_factory=FirstWords)  # words of the source
    repaired: Counter[str] = field(default_factory=Counter)  # texts with such a fault
    faults: Counter[Fault] = field(default_factory=Counter)  # faults that no remedy helped against
    source_cuts: SourceCuts = field(default_factory=SourceCuts)
    texts: int = 0  # without blank ones
    origins: Counter[str] = field(default_factory=Counter)  # of the texts, the network or a translation memory
    guided: int = 0  # texts that are like pairs of a translation memory
    failed: int = 0  # texts that failed a check
    failures: Counter[CheckKind] = field(default_factory=Counter)  # by the kind of the check
    other_languages: Counter[str] = field(default_factory=Counter)  # the messages about texts in them
    qa: QaReport | None = None  # where a report of all texts that failed is asked for
    first_failures: dict[str, list[Failing]] = field(default_factory=dict)  # the first texts, equal ones once
    registers: Counter[str] = field(default_factory=Counter)  # texts of documents that address people formally, or not
    first_error: str | None = None  # of nmt itself
    path: str | None = None  # of the report of all texts that failed
    max_length: int = 0  # of a translation, in tokens
    memory: TranslationMemory | None = None  # that was named
    terms: Glossary | None = None  # that was named, until one of its terms occurs
    recalled: set[str] = field(default_factory=set)  # the sources of its pairs that texts had
    rivals: dict[Rival, None] = field(default_factory=dict)  # pairs of it that others overruled
    leaves_out: bool = False  # whether files that are up to date have no part in it
    keeps_edited: bool = False  # whether files that a person has edited have none
    bleu: float | None = None  # of the model on its development set
    gain: float | None = None  # in chrF there, beyond that of random sentences
    unrated: str = ""  # why it cannot estimate its confidence
    languages: tuple[str, str] = ("", "")  # codes of the source and the target
    notes: Counter[str] = field(default_factory=Counter)  # what documents could not do as they should
    replacements: int = 0  # of workers that died
    files: FileSummaries = field(default_factory=FileSummaries)
    skipped: str = ""  # what is said of files of folders that are not translated

    def add(self, translation: Translation) -> None:
        """Counts one translation."""
        self.texts += bool(translation.source.strip())
        self.files.add(translation)
        self.origins[translation.origin] += 1
        self.guided += bool(translation.guides)
        if self.terms is not None and self.terms.occurs_in(translation.source):
            self.terms = None
        self.recalled.update(translation.recalled)
        self.rivals |= dict.fromkeys(translation.rivals)
        self.failed += bool(translation.checks)
        if self.qa is not None:
            self.qa.add(translation, self.files.where, self.files.number)
        for check in translation.checks:
            self.first_error = self.first_error or translation.failure
            self.failures[check.kind] += 1
            if check.kind == "other language":
                self.other_languages[check.message] += 1
            if check.kind == "untranslated":
                self.untranslated.add(check.message.removeprefix(NO_TRANSLATION).split(", "))
            self.remember(check.kind, self.locate(translation))
        if self.source_cuts.thing != "line":  # lines need not be one text
            self.add_register(translation)
        self.unseen_characters.update(part for part in translation.unseen if len(part) == 1)
        unknown = (part for part in translation.unseen if len(part) > 1)
        self.unknown.add(sorted(unknown, key=lambda word: (translation.source.find(word), word)))
        self.misread.add([f"{word} as {known}" for word, known in translation.read_as])
        self.carried.add(translation.carried)
        self.truncated += translation.cut
        for span in translation.placed:
            self.spans += 1
            self.doubtful_spans += span.doubtful
            self.first_doubtful += [span][: span.doubtful * (SPANS_SHOWN - len(self.first_doubtful))]
        self.source_cuts.add(translation)
        if translation.repairs:
            self.add_repairs(translation)

    def add_repairs(self, translation: Translation) -> None:
        """Counts the faults of a text that was translated again, and the text itself if any were repaired."""
        repaired = [repair.fault for repair in translation.repairs if repair.remedy is not None]
        self.repairs.update(repaired)
        self.faults.update(repair.fault for repair in translation.repairs if repair.remedy is None)
        if repaired:
            self.repaired[REPAIRED] += 1
            self.remember(REPAIRED, self.locate(translation))

    def add_register(self, translation: Translation) -> None:
        """Counts how a text addresses people."""
        from nmt_cli.languages.rules import find_rules  # which `nmt --help` does not need

        if register := find_rules(self.languages[1]).find_register(translation.text):
            self.registers[register] += 1
            self.remember(register, self.locate(translation))

    def locate(self, translation: Translation) -> Failing:
        return self.name_failing(self.files.file, self.files.location, self.files.number, translation.source)

    def name_failing(self, file: str, location: Location, number: int, source: str) -> Failing:
        """Returns a text that failed a check, named by its place in its file or, by default, its number."""
        if location.name:
            return Failing(file, location.kind, location.name, source)
        return Failing(file, self.source_cuts.thing, f"{number:,}", source)

    def remember(self, kind: str, failing: Failing) -> None:
        """Remembers one of the first texts that failed a check, or counts it again if it is already there."""
        first = self.first_failures.setdefault(kind, [])
        for other in first:
            if (other.file, other.source) == (failing.file, failing.source):
                other.times += 1
                return
        first += [failing][: LINES_SHOWN - len(first)]

    def add_notes(self, documents: Sequence[Document], executor: TranslationExecutor) -> None:
        """Counts the shortcomings of documents and workers."""
        remarks = {} if self.qa is None else self.qa.remarks
        for document in documents:
            self.notes += document.notes
            for noted in document.noted if self.qa is not None else ():
                failing = self.name_failing(document.source.name, noted.location, noted.number, noted.source)
                where = f"{failing.file}, {failing.thing} {failing.name}".replace(",  ", ", ")
                remarks.setdefault(noted.problem, []).append(f"{where}: {noted.source}")
            for torn in document.torn:
                self.add_torn(document.source.name, torn)
        self.replacements += executor.replacements

    def add_torn(self, file: str, torn: TornText) -> None:
        """Counts a text that stays as it is: as in the source, or with a translation that was already there."""
        self.texts += bool(torn.kept)
        self.failed += not torn.was_flagged
        self.failures[torn.check] += 1
        where = file if self.files.are_apart else ""
        self.remember(torn.check, self.name_failing(where, torn.location, torn.number, torn.source))
        self.files.add_torn(file, torn)
        if self.qa is not None:
            from nmt_cli.documents.reading_back import copy_torn  # which `nmt --help` does not need

            self.qa.texts -= not torn.kept  # its translation was counted
            self.qa.add(copy_torn(torn), f"{where} {torn.location}".strip(), torn.number)

    def list_remarks(self) -> list[Remark]:
        """Returns at most `LINES_MOST` lines about the counted events, the most important first."""
        remarks = [Remark(self.skipped)] if self.skipped else []
        if not self.is_other_language:
            remarks += self.describe_counts()
        elif not self.files.list_foreign():  # which are an error
            error = self.describe_languages()
            remarks.append(Remark("; ".join(filter(None, (error.message, error.hint)))))
        ending = [Remark(f"  {text}", is_warning=False, is_dim=True) for text in self.describe_report()]
        return [*shorten_remarks(remarks, LINES_MOST - len(ending)), *ending]

    def describe_counts(self) -> Iterator[Remark]:
        """Yields a line per kind of counted event: first the uncertain translations, then the actions of nmt."""
        from nmt_cli.api.advice import describe_weakness  # which `nmt --help` does not need

        weakness = describe_weakness(self.bleu, self.gain) if self.origins["network"] else []
        yield from map(Remark, weakness)
        if self.unrated and self.origins["network"] and not weakness:
            yield Remark(f"  this model cannot estimate its confidence: {self.unrated}", is_warning=False)
        yield from filter(None, [self.describe_spans()])
        yield from self.describe_faults()
        yield from self.describe_words()
        yield from self.describe_registers()
        yield from (Remark(f"{note}: {count:,}") for note, count in self.notes.items())
        if self.terms is not None and self.texts and not (self.leaves_out or self.keeps_edited):
            yield Remark(NO_TERM)
        if self.replacements:
            workers = format_count(self.replacements, "worker")
            yield Remark(f"{workers} died and had to be replaced; the lines in progress were translated again")
        is_idle = self.origins.total() == self.origins["network"] and not self.guided
        is_elsewhere = is_idle and (
            self.leaves_out or self.keeps_edited
        )  # its texts may be in the files that are left out
        if self.rivals:
            yield Remark(self.describe_rivals())
        if self.memory is not None and not is_elsewhere:
            yield Remark(f"{'' if is_idle else '  '}{self.describe_memory(self.memory)}", is_warning=is_idle)
        if self.repairs:
            repairs = self.repairs.most_common()
            kinds = ", ".join(count_faults(fault, count) for fault, count in repairs)
            text = f"{count_things(self.repairs.total(), 'sentence')} translated again"
            repaired = f"  {text}, which repaired {kinds}{self.name_texts(REPAIRED)}"
            yield Remark(repaired, text, is_warning=False)

    def describe_report(self) -> Iterator[str]:
        """Yields the line that names the rules of the failed checks, and how to see all texts that fail one."""
        texts = f"{self.path}: {format_count(self.failed, self.source_cuts.thing)} to check, and how to correct them"
        all_texts = [texts] if self.path is not None else ["add --report qa.html to see them all"]
        if self.failed or self.path is not None:
            yield "; ".join([self.name_rules()] * bool(self.failures) + all_texts)

    def describe_faults(self) -> Iterator[Remark]:
        """Yields the problems of translations: failed checks, faults that no remedy repaired, and truncations."""
        if self.failures or self.faults:
            yield from self.describe_all_failures()
        if self.source_cuts.count:
            yield Remark(self.source_cuts.summary, f"{self.source_cuts.count:,} with a truncated sentence")
        if self.truncated:
            texts = count_things(self.truncated, self.source_cuts.thing)
            text = f"{texts} with a truncated translation"
            yield Remark(f"{text}, at {describe_limits(self.max_length)}", text)

    def describe_all_failures(self) -> Iterator[Remark]:
        """Yields a line per kind of failed check, and one for all faults that no remedy repaired."""
        from nmt_cli.carrying.kinds import FAULTS_IF_LOST  # which, as the checks, `nmt --help` does not need
        from nmt_cli.translation.checks.table import CHECKS

        faults = Counter({fault: count for fault, count in self.faults.items() if fault not in FAULTS_IF_LOST})
        counted = {"failed", *faults, *(["spans"] if self.doubtful_spans else [])}
        for check in CHECKS:
            if self.failures[check.name] and check.name not in counted:
                count, text = f"{self.failures[check.name]:,}", f"{check.summary}{self.name_texts(check.name)}"
                words = f": {self.untranslated.shown}" if check.name == "untranslated" else ""
                things = format_count(self.texts, self.source_cuts.thing)
                yield Remark(f"{count} of {things} {text}{words}", f"{count} {text}")
        if faults:
            kinds = ", ".join(count_faults(fault, count) for fault, count in faults.most_common())
            sentences = count_things(faults.total(), "sentence")
            text = f"{sentences} translated again without success"
            yield Remark(f"{text}; check them: {kinds}", text)

    def describe_registers(self) -> Iterator[Remark]:
        """Yields a line if documents address people both formally and informally, with the places of the rarer way."""
        if len(self.registers) > 1:
            (usual, most), (other, fewest) = self.registers.most_common()
            counts = f"{usual}ly in {format_count(most, self.source_cuts.thing)}, {other}ly in {fewest:,}"
            yield Remark(f"people are addressed {counts}{self.name_texts(other)}")

    def describe_memory(self, memory: TranslationMemory) -> str:
        """Returns the line about texts found in a translation memory, even if none were: it may be the wrong one.

        The pairs of a small memory are corrections: one that matches no text may be mistyped.
        """
        changed, partly = self.origins["memory_numbers"], self.origins["memory_part"]
        whole = self.origins["memory"] + changed
        thing = self.source_cuts.thing
        texts = format_count(self.texts, thing)
        if self.guided and not (whole or partly):
            return f"{self.guided:,} of {texts} guided by similar pairs of the translation memory"
        text = f"{whole:,} of {texts} from the translation memory"
        text += "" if whole or partly else ": its entries must be whole texts or sentences, as in a --report"
        text += f" (numbers adapted in {changed:,})" if changed else ""
        text += f"; part of {format_count(partly, f'more {thing}' if whole else thing)}" if partly else ""
        others = self.list_unmatched(memory)
        shown = join_first(f'"{shorten_text(source, PAIR_SHOWN)}"' for source in others)
        where = " of the other files" if self.keeps_edited else ""
        more = " (add --report qa.html to see them all)" if shown.endswith("...") and self.path is None else ""
        return text + (f"; no text{where} matches {format_count(len(others), 'pair')}: {shown}{more}" if others else "")

    def list_unmatched(self, memory: TranslationMemory) -> list[str]:
        """Returns the sources of corrections that match no text; none if files are left out that may have them."""
        return memory.list_others(self.recalled) if self.recalled and not self.leaves_out else []

    def describe_rivals(self) -> str:
        """Returns the line about texts that have several translations in the memory."""
        rival, sources = next(iter(self.rivals)), {rival.source for rival in self.rivals}
        source, text, other = (f'"{shorten_text(side, PAIR_SHOWN)}"' for side in rival)
        example = f"{source} is {other}, not {text}; name the file that you trust most last"
        texts = format_count(len(sources), "text has", "texts have")
        return f"{texts} several translations in the translation memory, of which the last counts: {example}"

    @property
    def is_other_language(self) -> bool:
        """Whether most texts are surely in a language other than the source language."""
        return 2 * sum(map(self.failures.__getitem__, OF_LANGUAGES)) > self.texts

    def describe_languages(self, files: str = "") -> DataError:
        """Returns the error for texts mostly in another language; its hint may name a model for the opposite direction.

        `files` names their files, if there are enough texts to be sure.
        """
        from nmt_cli.languages.codes import find_language  # which, as the models, `nmt --help` does not need
        from nmt_cli.runtime.model_directory import find_models

        hints = [f"all {self.source_cuts.thing}s were written"] if files else []
        source, target = (find_language(code).name for code in self.languages)
        texts = f"most {self.source_cuts.thing}s{files and f' of {files}'} are"
        if self.failures["other language"] >= self.failures["language"]:
            (message, _), *_ = self.other_languages.most_common(1)
            text = f"{texts} not in {source}, the source language of this model: {message}"
            return DataError(text, hint="; ".join(hints))
        reverse = next(iter(find_models((self.languages[1], self.languages[0]))), None)
        hints += [f"for the opposite direction: --model {reverse}"] if reverse else []
        return DataError(f"{texts} already in {target}", hint="; ".join(hints))

    def name_rules(self) -> str:
        """Returns the line that names the rules of the failed checks in the documentation."""
        from nmt_cli.translation.checks.table import CHECKS, RULES_PAGE  # which `nmt --help` does not need

        kinds = {kind for kind, count in self.failures.items() if count}
        kinds = kinds & {*OF_LANGUAGES} if self.is_other_language else kinds
        anchors = [check.anchor for check in CHECKS if check.name in kinds]
        return f"rules: {RULES_PAGE}{', '.join(anchors)}"

    def name_texts(self, kind: str) -> str:
        """Returns the places of the first texts of a kind, in brackets; empty if there are none."""
        places, total = self.first_failures.get(kind, []), (self.failures | self.registers | self.repaired)[kind]
        more = " ..." if total > sum(failing.times for failing in places) else ""
        groups, last = [], ""
        for (file, thing), group in groupby(places, attrgetter("file", "thing")):
            is_plural = len({(other.file, str(other)) for other in places if other.thing == thing}) > 1
            things = f"{thing}{'s' * is_plural} " if thing not in ("", last) else ""
            groups.append(f"{things}{', '.join(dict.fromkeys(map(str, group)))}" + (file and f" of {file}"))
            last = thing
        return f" ({'; '.join(groups)}{more})" if places else ""

    def write_qa(self) -> None:
        """Writes the report of all texts that failed a check, if requested."""
        if self.qa is not None and self.path is not None:
            if self.memory is not None and (unmatched := self.list_unmatched(self.memory)):
                targets = self.memory.targets
                self.qa.remarks[UNMATCHED] = [f"{source} -> {targets[source]}" for source in unmatched]
            self.qa.files = self.files.map_files() if self.files.has_parts else []
            self.qa.write(Path(self.path))

    def require_faultless(self, *, strict: bool) -> None:
        """Raises DataError for a file not translated or in another language, FailedLineError if nmt failed on a text.

        Raises CheckError if a text failed a check and `strict` is set.
        """
        self.files.require_complete()
        if foreign := self.files.list_foreign():
            raise self.describe_languages(join_first(foreign, LINES_SHOWN))
        if self.failures["failed"]:
            texts = format_count(self.texts, self.source_cuts.thing)
            raise FailedLineError(
                f"{self.failures['failed']:,} of {texts} copied, because {self.first_error}{self.name_texts('failed')}",
                hint="all others were translated; please report these, with the version that nmt --version prints",
            )
        if self.failed and strict:
            texts = format_count(self.texts, self.source_cuts.thing)
            raise CheckError(
                f"{self.failed:,} of {texts} failed a check, which --strict treats as an error",
                hint="all translations were written; add --report qa.html to see which failed",
            )

    def describe_spans(self) -> Remark | None:
        """Returns the warning about protected spans lost by the network, or None."""
        if not self.doubtful_spans:
            return None
        texts = " ".join(dict.fromkeys(span.text for span in self.first_doubtful))
        more = " ..." if self.doubtful_spans > SPANS_SHOWN else ""
        return Remark(
            f"of {format_count(self.spans, 'protected span')}, the network dropped {self.doubtful_spans:,}; nmt "
            f"used attention or position to put them back, so check them: {texts}{more}{self.name_texts('spans')}"
        )

    def describe_words(self) -> Iterator[Remark]:
        """Yields warnings of words and characters unseen in training: read as others, copied, or guessed."""
        unseen, outside = "never seen in training", "outside the vocabulary"
        for count, why, remark in (
            (self.unknown, outside, "read as unknown"),
            (self.misread, unseen, "read as known words"),
            (self.carried, unseen, "copied unchanged"),
        ):
            if count.total:
                words = count_things(count.total, "source word")
                yield Remark(f"{words} {why}, and {remark}: {count.shown}", f"{words} {remark}")
        if self.unseen_characters:
            from nmt_cli.rewriting.characters import name_character  # which few runs need

            shown = " ".join(map(name_character, sorted(self.unseen_characters)[:CHARACTERS_SHOWN]))
            rest = len(self.unseen_characters) - CHARACTERS_SHOWN
            more = f" and {rest} more" if rest > 0 else ""
            text = "characters of the source never seen in training, so their translation is a guess"
            yield Remark(f"{text}: {shown}{more}", format_count(len(self.unseen_characters), "unseen character"))


def shorten_remarks(remarks: list[Remark], most: int) -> list[Remark]:
    """Returns at most `most` remarks; the last one sums up the rest."""
    whole, rest = remarks[: most - 1], remarks[most - 1 :]
    if len(rest) < 2:
        return remarks
    return [*whole, Remark(f"and {'; '.join(remark.brief or remark.text.strip() for remark in rest)}")]


def open_qa_report(
    checks: CheckOptions, what: str, card: ModelCard, thing: str, settings_from: Mapping[str, str]
) -> QaReport | None:
    """Returns an empty report of texts that fail a check; None unless requested. `what` names the input."""
    if checks.report is None:
        return None
    # `nmt --help` needs neither the checks nor templates and html.
    from nmt_cli.translation.checks.table import CHECKS, RULES_PAGE
    from nmt_cli.visuals.qa_report import CheckTitle, QaReport

    titles = {check.name: CheckTitle(check.summary, f"{RULES_PAGE}{check.anchor}") for check in CHECKS}
    return QaReport(titles, what, card.languages, thing, settings_from)


def count_faults(fault: Fault, count: int) -> str:
    """Returns "1 loop" or "2 loops"."""
    from nmt_cli.translation.checks.table import CHECK_ROWS  # which `nmt --help` does not need

    return format_count(count, *CHECK_ROWS[fault].repaired)


def count_things(number: int, thing: str) -> str:
    """Returns "1 sentence was" or "2 sentences were"."""
    return format_count(number, f"{thing} was", f"{thing}s were")
