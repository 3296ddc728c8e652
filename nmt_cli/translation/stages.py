"""The stages of a translation, in order. Each reads some fields of a batch of lines, and fills or changes others.

Every stage works on all lines of the batch together, because search is faster in batches. A batch on which nmt itself
fails is run again in halves until the lines at fault are isolated: if "b" of ("a", "b", "c") is at fault, "a" and "c"
are translated as usual, and "b" is copied with a failed check. Uses networks only through their `search`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import NamedTuple

from nmt_cli.arrays.types import END
from nmt_cli.errors import NmtError, convert_import_error, name_error
from nmt_cli.rewriting.marks import find_final_mark
from nmt_cli.search.config import SearchOptions
from nmt_cli.search.constraints import TextId
from nmt_cli.text.characters import PAUSES
from nmt_cli.text.normalise import count_words
from nmt_cli.text.tags import LONGEST_CONTEXT, SentenceContext
from nmt_cli.translation.batch import Tools, TranslationBatch
from nmt_cli.translation.placement.joining import (
    end_like,
    join_parts,
    keep_marks,
    restore_piece,
    select_distinct,
    undo_rewrites,
)
from nmt_cli.translation.result import FailedCheck, Translation
from nmt_cli.translation.search import CountReporter, PieceTranslations, report_from
from nmt_cli.translation.segmentation.pieces import find_origin, make_frame_piece
from nmt_cli.translation.segmentation.segments import Segment

# The order in which pieces are searched: in rounds, each piece after the one that is its context.
#
# Without context, there is one round. Context is what search found: repairs wait for the last round, since in each they
# would be few, and a translation with a fault is no context.


RARE_END = 0.01  # share of the source texts of training that end with a mark; `,` has none in eng-deu, `:` has 0.9 %


def reads_context(tools: Tools, batch: TranslationBatch) -> bool:
    """Whether lines of a batch are read in the context of others."""
    return bool(batch.windows) and tools.network.target.separator_id is not None


def list_rounds(batch: TranslationBatch, tools: Tools) -> list[dict[TextId, TextId | None]]:
    """Returns rounds of pieces that are searched together, each with the previous piece if that is its context."""
    if not reads_context(tools, batch):
        return [dict.fromkeys(batch.pieces)]
    windows = [list_window(batch, rows, tools) for rows in batch.windows]
    in_windows = {text_id for window in windows for text_id in window}
    pairs = zip_longest(*(zip(window, [None, *window], strict=False) for window in windows))
    rounds = [dict(filter(None, some)) for some in pairs] or [{}]
    rounds[0] |= dict.fromkeys(text_id for text_id in batch.pieces if text_id not in in_windows)
    return rounds


def list_window(batch: TranslationBatch, lines: Sequence[int], tools: Tools) -> list[TextId]:
    """Returns, in order, the pieces of these lines that need a translation and are read in context."""
    ids = [text_id for line in lines for text_id in batch.list_ids(line) if batch.pieces[text_id].is_translated]
    return [text_id for text_id in ids if not stands_alone(batch.pieces[text_id].text, tools)]


def stands_alone(text: str, tools: Tools) -> bool:
    """Whether a text ends with a pause that rarely ends a training text, as a greeting or a label does.

    After another sentence, the network copies such a text or mixes the two: `Bye,` became *ByEs ist müde,*.
    """
    profile, mark = tools.profile and tools.profile.source, find_final_mark(text)
    return mark != "" and mark in PAUSES and profile is not None and profile.final_marks.get(mark, 0.0) < RARE_END


def find_context(batch: TranslationBatch, text_id: TextId, tools: Tools) -> SentenceContext | None:
    """Returns a piece and its translation as the context of the next; None if they are too long or faulty."""
    piece, translation, target = batch.pieces[text_id], batch.translations.get(text_id), tools.network.target
    if translation is None or is_faulty(tools, translation, batch.config):
        return None
    source, text = piece.text, translation.hypotheses[0].text
    tokens, separator = [token for token in translation.hypotheses[0].tokens if token != END], target.separator_id
    if separator is None or not tokens or max(count_words(source), count_words(text)) > LONGEST_CONTEXT:
        return None
    return SentenceContext(source, (*tokens, separator))


def is_faulty(tools: Tools, translation: Translation, config: SearchOptions) -> bool:
    """Whether there is no translation, or one with a fault for which its text is searched again."""
    return not translation.hypotheses or bool(tools.judge(translation.source, translation.hypotheses[0], config))


def rewrite_lines(tools: Tools, batch: TranslationBatch) -> None:
    """Decodes HTML references in whole lines."""
    batch.rewritten_lines = [tools.reader.rewriter.read_line(line) for line in batch.lines]


def split(tools: Tools, batch: TranslationBatch) -> None:
    """Splits lines into sentences, sets their frames aside, and masks text that must stay unchanged."""
    whole = bool(batch.config.prefix)
    batch.segments = [tools.reader.split(text, whole=whole) for text in batch.texts]


def recall(tools: Tools, batch: TranslationBatch) -> None:
    """Looks up the pieces in the translation memory."""
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
    """Searches for the translation of each piece, with the same context as without a translation memory."""
    report = scale_progress(batch.progress, sum(piece.is_translated for piece in batch.pieces.values()), batch.lines)
    if batch.memory is not None and reads_context(tools, batch):
        texts = {text_id: piece.text for text_id, piece in batch.pieces.items() if piece.is_translated}
        plain, neighbours = search_without_memory(tools, batch), tools.network.neighbours
        kept = {text_id: plain[text_id] for text_id, text in texts.items() if plain[text_id].source == text}
        if neighbours is not None:
            kept = {text_id: same for text_id, same in kept.items() if not neighbours.find_alike(same.source)}
        guided = {text_id: text for text_id, text in texts.items() if text_id not in kept}
        contexts = {text_id: context for text_id in guided if (context := plain[text_id].context) is not None}
        batch.translations |= kept | tools.network.search(guided, batch.config, None, contexts)
        return
    for some in list_rounds(batch, tools):
        texts = {text_id: piece.text for text_id in some if (piece := batch.pieces[text_id]).is_translated}
        befores = {text_id: find_context(batch, before, tools) for text_id, before in some.items() if before}
        contexts = {text_id: context for text_id, context in befores.items() if context is not None}
        progress = report_from(len(batch.translations), report)
        batch.translations |= tools.network.search(texts, batch.config, progress, contexts)


def search_without_memory(tools: Tools, batch: TranslationBatch) -> PieceTranslations:
    """Translates all pieces as if there were no translation memory; the batch's progress counts them."""
    plain = replace(batch.take_rows(range(len(batch.lines))), memory=None, progress=batch.progress)
    tools = tools.with_network(tools.network._replace(neighbours=None))
    for stage in (rewrite_lines, split, rewrite, search):
        stage(tools, plain)
    return plain.translations


def ask_again(tools: Tools, batch: TranslationBatch) -> None:
    """Asks the network again if a translation has faults, dropped text or uncertain words."""
    if batch.repair is not None or batch.config.scored:  # validation in training needs none
        from nmt_cli.translation.repair.asks import ask_about_batch

        ask_about_batch(tools, batch)


def place(tools: Tools, batch: TranslationBatch) -> None:
    """Puts protected spans back, and aligns the words of matches from the translation memory."""
    if batch.memory is not None:
        batch.translations |= batch.memory.link_pieces(tools, batch.pieces)
    tokenizers = tools.tokenizers
    for text_id, piece in batch.pieces.items():
        prefix = batch.config.prefix if text_id.piece == 0 else ""
        batch.parts[text_id] = restore_piece(piece, batch.translations.get(text_id), tokenizers, prefix)


def write_back(tools: Tools, batch: TranslationBatch) -> None:
    """Undoes the rewrites of the pieces, and restores the punctuation of the source."""
    for text_id, piece in batch.pieces.items():
        if text_id not in batch.translations:
            continue
        if piece.rewritten is not None:
            batch.parts[text_id] = undo_rewrites(batch.parts[text_id], piece.rewritten, piece)
        if piece.recalled is None:
            batch.parts[text_id] = keep_marks(batch.parts[text_id], piece, tools.reader.rewriter)


def join(tools: Tools, batch: TranslationBatch) -> None:
    """Joins the pieces of each line, and undoes the rewrites of the whole line."""
    is_sampled, tokenizers = batch.config.sampling.sample, tools.tokenizers
    for index, line in enumerate(batch.lines):
        pieces = [batch.pieces[text_id] for text_id in batch.list_ids(index)]
        parts = [batch.parts[text_id] for text_id in batch.list_ids(index)]
        joined = join_parts(line, pieces, parts, tokenizers, sampled=is_sampled)
        joined = joined if is_sampled else select_distinct(joined, batch.n_best)
        joined = end_like(joined, line)
        if batch.memory is not None:
            known = [piece.recalled for piece in pieces if piece.recalled is not None]
            recalled, rivals = tuple(pair.source for pair in known), chain.from_iterable(pair.rivals for pair in known)
            neighbours = tools.network.neighbours
            guides = () if neighbours is None else chain.from_iterable(neighbours.list_guides(p.text) for p in pieces)
            joined = joined._replace(origin=find_origin(pieces), recalled=recalled, guides=tuple(guides))
            joined = joined._replace(rivals=tuple(rivals))
        rewritten = batch.rewritten_lines[index]
        batch.result.append(undo_rewrites(joined, rewritten) if rewritten else joined)


def check(tools: Tools, batch: TranslationBatch) -> None:
    """Checks each translation against its source."""
    if batch.checks is not None and batch.checks.check:
        lines = [
            hide_recalled(batch, index) if translation.origin == "memory_part" else translation
            for index, translation in enumerate(batch.result)
        ]
        checked = tools.check_translations(lines, repaired=batch.repairs_faults)
        pairs = zip(batch.result, checked, strict=True)
        batch.result = [translation._replace(checks=new.checks, read_back=new.read_back) for translation, new in pairs]


def hide_recalled(batch: TranslationBatch, index: int) -> Translation:
    """Returns a line's translation without the sentences that a person translated; the network translated the rest."""
    translation = batch.result[index]
    source, (best, *others) = translation.source, translation.hypotheses
    for piece in (batch.pieces[text_id] for text_id in batch.list_ids(index)):
        if piece.recalled is not None:
            source = source.replace(piece.segment.text.strip(), "", 1).strip()
            best = best._replace(text=best.text.replace(piece.recalled.text.strip(), "", 1).strip())
    return translation._replace(source=source, hypotheses=(best, *others))


def rate(tools: Tools, batch: TranslationBatch) -> None:
    """Estimates the confidence of each sentence, gives the line the lowest one, and flags low confidence."""
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


def make_stage(run: Callable[[Tools, TranslationBatch], None], needs: str, gives: str) -> Stage:
    return Stage(run, frozenset(needs.split()), frozenset(gives.split()))


STAGES = (
    make_stage(rewrite_lines, "lines", "rewritten_lines"),
    make_stage(split, "lines rewritten_lines", "segments"),
    make_stage(recall, "lines rewritten_lines segments", "segments"),
    make_stage(rewrite, "lines segments", "pieces"),
    make_stage(search, "lines segments pieces", "translations"),
    make_stage(ask_again, "lines segments pieces translations", "pieces translations"),
    make_stage(place, "pieces translations", "parts translations"),
    make_stage(write_back, "pieces translations parts", "parts"),
    make_stage(join, "lines rewritten_lines segments pieces parts", "result"),
    make_stage(check, "segments pieces result", "result"),
    make_stage(rate, "segments pieces parts result", "result"),
)


def run_stages(tools: Tools, batch: TranslationBatch, stages: Sequence[Stage] = STAGES) -> list[Translation]:
    """Returns the translation of each line; a line on which nmt itself fails is copied, without affecting the others.

    User errors (`NmtError`) end the batch.
    """
    done: dict[int, Translation] = {}
    for trial in isolate(batch.list_groups()):
        with trial:
            part = batch if len(trial.rows) == len(batch.lines) else batch.take_rows(trial.rows)
            for stage in stages:
                stage.run(tools, part)
            done |= zip(trial.rows, part.result, strict=True)
        if trial.failure is not None:
            (row,) = trial.rows
            text = batch.targets[row] if batch.targets else batch.lines[row]
            done[row] = copy_line(text, trial.failure)._replace(source=batch.lines[row])
    if batch.progress is not None and not batch.result:  # the batch failed before its texts were counted
        batch.progress(len(batch.lines))
    return [done[row] for row in range(len(batch.lines))]


class Trial:
    """A context manager for work on some rows; catches a failure of nmt and stores it in `error`."""

    def __init__(self, rows: Sequence[int]) -> None:
        self.rows = rows
        self.error: Exception | None = None

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Exception) or isinstance(error, NmtError) or not self.rows:
            return False
        if isinstance(error, ImportError) and convert_import_error(error) is not None:
            return False  # no row is to blame for a package that is not installed
        self.error = error
        return True

    @property
    def failure(self) -> Exception | None:
        """The error of nmt on a single row, which is then to blame; None for several rows."""
        return self.error if len(self.rows) == 1 else None


def isolate(groups: Sequence[Sequence[int]]) -> Iterator[Trial]:
    """Yields all rows of `groups` as a trial, then the halves of each failed trial, until rows at fault are alone.

    A group stays whole until it fails by itself.
    """
    waiting = [groups]
    while waiting:
        groups = waiting.pop()
        trial = Trial(sorted(row for group in groups for row in group))
        yield trial
        if trial.error is not None and len(trial.rows) > 1:
            smaller = groups if len(groups) > 1 else [[row] for row in groups[0]]
            middle = len(smaller) // 2
            waiting += [smaller[middle:], smaller[:middle]]


def copy_line(line: str, error: Exception) -> Translation:
    """Returns a line as its own translation, with a failed check that says where nmt failed but quotes no text."""
    if not isinstance(error, NmtError):
        import logging  # which few runs need

        logging.getLogger("nmt_cli").debug("nmt failed on a text:", exc_info=error)
    piece = make_frame_piece(Segment(line, (), blank_before=False, ends_sentence=True, is_frame=True))
    copied = restore_piece(piece, None, None, "")
    return copied._replace(source=line, checks=(FailedCheck("failed", f"nmt failed ({name_error(error)})"),))


def scale_progress(progress: CountReporter | None, texts: int, lines: Sequence[str]) -> CountReporter | None:
    """Converts a count of finished texts to one of finished lines for `progress`.

    If there are no texts, all lines are finished at once.
    """
    if progress is None:
        return None
    if not texts:
        progress(len(lines))
    return lambda done: progress(done * len(lines) // max(1, texts))
