"""The stages of a translation, in order: what each does with a batch of lines, what it needs, and what it provides.

Every stage works on all lines of the batch together, since search is fast in batches. A batch on which nmt itself fails
is run again in halves, so that only the lines at fault remain: of ("a", "b", "c"), with "b" at fault, "a" and "c" are
translated as ever, and "b" is copied with a failed check. Knows no network and no file format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from nmt_cli.errors import NmtError, convert_import_error, name_error
from nmt_cli.rewriting.final_marks import FinalMarks
from nmt_cli.search.sampling import TextId
from nmt_cli.text.tokenizer import TokenizerPair
from nmt_cli.translation.batch import TranslationBatch
from nmt_cli.translation.batch_search import CountReporter
from nmt_cli.translation.placement.joining import (
    join_parts,
    keep_final_marks,
    restore_piece,
    select_distinct,
    undo_rewrites,
)
from nmt_cli.translation.result import FailedCheck, Translation
from nmt_cli.translation.segmentation.line_reader import LineReader
from nmt_cli.translation.segmentation.pieces import find_origin, make_frame_piece
from nmt_cli.translation.segmentation.segments import Segment
from nmt_cli.translation.sentence_search import PieceTranslations, SentenceSearch
from nmt_cli.translation.waves import list_waves

if TYPE_CHECKING:
    from nmt_cli.text.profile import CorpusProfile
    from nmt_cli.text.tags import TagSet
    from nmt_cli.translation.checks.confidence import ConfidenceModel
    from nmt_cli.translation.checks.context import CheckContext


OfRow = TypeVar("OfRow")


class Tools(Protocol):
    """The parts of a translator that stages use."""

    reader: LineReader
    sentences: SentenceSearch
    profile: CorpusProfile | None
    carries: bool

    @property
    def reads_text(self) -> bool: ...

    @property
    def tokenizers(self) -> TokenizerPair | None: ...

    @property
    def confidence(self) -> ConfidenceModel | None: ...

    @property
    def check_context(self) -> CheckContext: ...

    def complete_tags(self, tags: TagSet) -> TagSet: ...

    def read_left_out(self, translations: Sequence[Translation], tags: TagSet = ()) -> list[Translation]: ...

    def check_translations(
        self, translations: Sequence[Translation], *, repaired: bool = False
    ) -> list[Translation]: ...


def rewrite_lines(tools: Tools, batch: TranslationBatch) -> None:
    """Decodes the HTML references of a whole line."""
    batch.rewritten_lines = [tools.reader.rewriter.read_line(line) for line in batch.lines]


def split(tools: Tools, batch: TranslationBatch) -> None:
    """Cuts lines into sentences, separates their frames, and masks what must arrive unchanged."""
    whole = bool(batch.config.prefix)
    batch.segments = [tools.reader.split(text, whole=whole) for text in batch.texts]


def recall(tools: Tools, batch: TranslationBatch) -> None:
    """Recalls pieces from the translation memory."""
    if batch.memory is not None:
        pairs = zip(batch.texts, batch.segments, strict=True)
        batch.segments = [batch.memory.recall_pieces(text, pieces, tools.reader) for text, pieces in pairs]


def rewrite(tools: Tools, batch: TranslationBatch) -> None:
    """Rewrites the pieces for the network."""
    batch.pieces = {
        TextId(number, index): piece
        for number, line, pieces in zip(batch.numbers, batch.lines, batch.segments, strict=True)
        for index, piece in enumerate(tools.reader.rewrite(pieces, line))
    }


def search(tools: Tools, batch: TranslationBatch) -> None:
    """Searches for the translations of the pieces."""
    texts = {text_id: piece.text for text_id, piece in batch.pieces.items() if piece.is_translated}
    report = scale_progress(batch.progress, len(texts), len(batch.lines))
    batch.translations = tools.sentences.search(texts, batch.config, report, batch.contexts)


def repair(tools: Tools, batch: TranslationBatch) -> None:
    """Searches faulty translations again, in other ways."""
    batch.translations = tools.sentences.repair(batch.translations, batch.config, batch.repair)


def carry_lost(tools: Tools, batch: TranslationBatch) -> None:
    """Searches again to protect losses, then without doubtful marks."""
    if not batch.repairs_faults:
        return
    from nmt_cli.translation.repair.carry_lost import repair_losses  # training needs none
    from nmt_cli.translation.repair.second_reading import read_again

    def search_again(texts: Mapping[TextId, str]) -> PieceTranslations:
        return tools.sentences.repair(tools.sentences.search(texts, batch.config), batch.config, batch.repair)

    repair_losses(batch.pieces, batch.translations, tools.reader, search_again, tools.reader.if_lost)
    read_again(
        batch.pieces,
        batch.translations,
        tools.reader,
        search_again,
        partial(tools.sentences.score, tags=batch.config.tags),
    )


def find_omissions(tools: Tools, batch: TranslationBatch) -> None:
    """Finds words that marks enclose, and content words left out."""
    if batch.config.scored and batch.has_marks:
        from nmt_cli.translation.repair.enclosed import collect_marked, settle_pairs  # which few lines need

        profile = tools.profile.source if tools.profile is not None else None
        language, scorer = tools.reader.context.languages[0], partial(tools.sentences.score, tags=batch.config.tags)
        batch.translations |= settle_pairs(collect_marked(batch), scorer, profile, language)
    if batch.finds_left_out:
        read = tools.read_left_out(list(batch.translations.values()), batch.config.tags)
        batch.translations = dict(zip(batch.translations, read, strict=True))


def place(tools: Tools, batch: TranslationBatch) -> None:
    """Puts spans back, and links words of recalled pieces."""
    if batch.memory is not None:
        batch.translations |= batch.memory.link_pieces(tools, batch.pieces)
    tokenizers = tools.tokenizers
    for text_id, piece in batch.pieces.items():
        prefix = batch.config.prefix if text_id.piece == 0 else ""
        batch.parts[text_id] = restore_piece(piece, batch.translations.get(text_id), tokenizers, prefix)


def write_back(tools: Tools, batch: TranslationBatch) -> None:
    """Undoes rewrites; keeps final marks."""
    marks: FinalMarks | None = tools.reader.rewriter.find(FinalMarks)
    for text_id, piece in batch.pieces.items():
        if text_id not in batch.translations:
            continue
        if piece.rewritten is not None:
            batch.parts[text_id] = undo_rewrites(batch.parts[text_id], piece.rewritten, piece)
        if marks is not None and piece.recalled is None:
            batch.parts[text_id] = keep_final_marks(batch.parts[text_id], piece, marks)


def join(tools: Tools, batch: TranslationBatch) -> None:
    """Joins the pieces of each line, and undoes the rewrites of the line."""
    is_sampled, tokenizers = batch.config.sampling.sample, tools.tokenizers
    for index, line in enumerate(batch.lines):
        pieces = [batch.pieces[text_id] for text_id in batch.list_ids(index)]
        parts = [batch.parts[text_id] for text_id in batch.list_ids(index)]
        joined = join_parts(line, pieces, parts, tokenizers, sampled=is_sampled)
        joined = joined if is_sampled else select_distinct(joined, batch.n_best)
        joined = joined if batch.memory is None else joined._replace(origin=find_origin(pieces))
        rewritten = batch.rewritten_lines[index]
        batch.result.append(undo_rewrites(joined, rewritten) if rewritten else joined)


def check(tools: Tools, batch: TranslationBatch) -> None:
    """Checks each translation against its line."""
    if batch.checks is not None and batch.checks.check:
        batch.result = tools.check_translations(batch.result, repaired=batch.repairs_faults)


def rate(tools: Tools, batch: TranslationBatch) -> None:
    """Rates the confidence of each sentence, of which the lowest is the line's, and marks too little."""
    if batch.checks is not None and batch.checks.check and not batch.config.sampling.sample and tools.confidence:
        from nmt_cli.translation.checks.confidence import judge_translations, list_sentences  # training needs none

        context, sentences = tools.check_context, []
        for index, translation in enumerate(batch.result):
            pieces = [batch.pieces[text_id] for text_id in batch.list_ids(index)]
            parts = [batch.parts[text_id] for text_id in batch.list_ids(index)]
            sentences.append(list_sentences(translation, pieces, parts, context, repaired=batch.repairs_faults))
        batch.result = judge_translations(batch.result, tools.confidence, context, batch.checks, sentences)


class Stage(NamedTuple):
    """A step of a translation, with the fields of the batch that it reads, and those that it fills or changes."""

    run: Callable[[Tools, TranslationBatch], None]
    needs: frozenset[str]
    gives: frozenset[str]
    in_waves: bool = False  # each piece after the one that is its context


def make_stage(
    run: Callable[[Tools, TranslationBatch], None], needs: str, gives: str, *, in_waves: bool = False
) -> Stage:
    return Stage(run, frozenset(needs.split()), frozenset(gives.split()), in_waves)


STAGES = (
    make_stage(rewrite_lines, "lines", "rewritten_lines"),
    make_stage(split, "lines rewritten_lines", "segments"),
    make_stage(recall, "lines rewritten_lines segments", "segments"),
    make_stage(rewrite, "lines segments", "pieces"),
    make_stage(search, "lines pieces", "translations", in_waves=True),
    make_stage(repair, "translations", "translations"),
    make_stage(carry_lost, "pieces translations", "pieces translations"),
    make_stage(find_omissions, "lines segments pieces translations", "translations"),
    make_stage(place, "pieces translations", "parts translations"),
    make_stage(write_back, "pieces translations parts", "parts"),
    make_stage(join, "lines rewritten_lines segments pieces parts", "result"),
    make_stage(check, "result", "result"),
    make_stage(rate, "segments pieces parts result", "result"),
)


def run_stages(tools: Tools, batch: TranslationBatch, stages: Sequence[Stage] = STAGES) -> list[Translation]:
    """Returns the translation of each line; one on which nmt itself fails is copied, and the others are as ever.

    Errors of the user (`NmtError`) end the batch.
    """

    def run(rows: Sequence[int]) -> list[Translation]:
        part = batch if len(rows) == len(batch.lines) else batch.take_rows(rows)
        run_in_order(tools, part, stages)
        return part.result

    def copy(row: int, error: Exception) -> Translation:
        text = batch.targets[row] if batch.targets else batch.lines[row]
        return copy_line(text, error)._replace(source=batch.lines[row])

    done = isolate(run, batch.list_groups(), copy)
    if batch.progress is not None and not batch.result:  # the batch failed before its texts were counted
        batch.progress(len(batch.lines))
    return [done[row] for row in range(len(batch.lines))]


def run_in_order(tools: Tools, batch: TranslationBatch, stages: Sequence[Stage]) -> None:
    """Runs stages on a batch, some of them wave by wave."""
    for in_waves, group in groupby(stages, attrgetter("in_waves")):
        together = list(group)
        for part in list_waves(batch, tools.sentences) if in_waves else [batch]:
            for stage in together:
                stage.run(tools, part)


def isolate(
    run: Callable[[Sequence[int]], Sequence[OfRow]],
    groups: Sequence[Sequence[int]],
    replace_failed: Callable[[int, Exception], OfRow],
) -> dict[int, OfRow]:
    """Returns the result of `run` for each row of `groups`, or what replaces it for a row on which it fails alone.

    Groups that fail are run again in halves; a group stays whole until it fails by itself.
    """
    rows = sorted(row for group in groups for row in group)
    try:
        return dict(zip(rows, run(rows), strict=True))
    except NmtError:
        raise
    except Exception as error:
        is_missing = isinstance(error, ImportError) and convert_import_error(error) is not None
        if not rows or is_missing:  # no row is to blame for a package that is not installed
            raise
        if len(rows) == 1:
            return {rows[0]: replace_failed(rows[0], error)}
    smaller = groups if len(groups) > 1 else [[row] for row in groups[0]]
    middle = len(smaller) // 2
    return isolate(run, smaller[:middle], replace_failed) | isolate(run, smaller[middle:], replace_failed)


def copy_line(line: str, error: Exception) -> Translation:
    """Returns a line as its own translation, with a failed check that says where nmt failed, without any text."""
    piece = make_frame_piece(Segment(line, (), blank_before=False, ends_sentence=True, is_frame=True))
    copied = restore_piece(piece, None, None, "")
    return copied._replace(source=line, checks=(FailedCheck("failed", f"nmt failed ({name_error(error)})"),))


def scale_progress(progress: CountReporter | None, texts: int, lines: int) -> CountReporter | None:
    """Converts a count of finished texts to one of finished lines for `progress`.

    Without any text, all lines are finished at once.
    """
    if progress is None:
        return None
    if not texts:
        progress(lines)
    return lambda done: progress(done * lines // max(1, texts))
