"""A folder as input: which files are translated, where to, and what is said of the others."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from nmt_cli.api.translating.inputs import (
    MISMATCH,
    NO_COLUMN,
    DocumentOpener,
    InputFile,
    list_files,
    require_folder_for_output,
)
from nmt_cli.api.translating.outputs import WrittenFiles
from nmt_cli.documents.config import DocumentOptions
from nmt_cli.documents.document import DocumentSource
from nmt_cli.errors import NotFoundError, OptionError
from nmt_cli.formats import BY_NAME
from nmt_cli.translation.memory.lookup import TranslationMemory

FILES = {
    "book/one.txt": "One.\n",
    "book/two/page.html": "<html><p>Two.</p></html>",
    "book/two/table.csv": "id,text\n1,Three\n",
    "book/two/logo.png": "\x89PNG\r\n\x1a\n",
    "book/Makefile": "all:\n",
    "book/old.docx": "this is text\n",
    "book/.hidden": "no",
    "book/out/one.txt": "Eins.\n",
}


def write_files(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode("latin-1"))


@pytest.fixture
def book(tmp_path: Path) -> Path:
    write_files(tmp_path, FILES)
    return tmp_path / "book"


def list_places(folder: Path, **options: str) -> list[str]:
    content = list_files([folder], f"{folder}/out", DocumentOptions(**options))  # type: ignore[arg-type]
    return [str(file.relative) for file in content.files]


def test_each_file_of_a_known_kind_keeps_its_place_and_others_are_told(book: Path) -> None:
    content = list_files([book], f"{book}/out", DocumentOptions())
    assert content.files == [
        InputFile(book / "one.txt", Path("one.txt"), frozenset(BY_NAME)),
        InputFile(book / "two/page.html", Path("two/page.html"), frozenset(BY_NAME)),
    ]
    told = content.describe_skipped()
    assert told.startswith("2 of 6 files neither translated nor copied: ")
    assert "Makefile" in told and "logo.png (a picture)" in told
    assert {path.name: reason for path, reason in content.unread} == {"old.docx": MISMATCH, "table.csv": NO_COLUMN}


@pytest.mark.parametrize(
    ("target", "is_left_out"), [("../secret.txt", True), ("/etc/hostname", True), ("../one.txt", False)]
)
def test_a_link_to_a_file_elsewhere_is_left_out_and_one_within_the_folder_is_not(
    book: Path, target: str, is_left_out: bool
) -> None:
    (book.parent / "secret.txt").write_text("mine\n")
    (book / "two" / "linked.txt").symlink_to(target.replace("../secret", "../../secret"))
    content = list_files([book], f"{book}/out", DocumentOptions())
    names = [str(file.relative) for file in content.files]
    assert ("two/linked.txt" in names) is not is_left_out
    line = f"{book / 'two/linked.txt'} (a link to a file outside the folder)"
    assert (line in content.describe_skipped()) is is_left_out


@pytest.mark.parametrize(("name", "links_words"), [("two/page.html", True), ("one.txt", False)])
def test_a_memory_knows_before_a_worker_gets_it_that_words_are_linked(book: Path, name: str, links_words: bool) -> None:
    memory = TranslationMemory(links_words=False)
    template = DocumentSource((), "x", DocumentOptions(), "de", memory=memory)
    opener = DocumentOpener(template, lambda _: "", is_bare=True, console=SimpleNamespace())  # type: ignore[arg-type]
    opener.open_files([InputFile(book / name, Path(name), frozenset(BY_NAME))], [], is_apart=True)
    assert memory.links_words is links_words


def test_a_folder_that_is_itself_a_link_is_translated(book: Path) -> None:
    (book.parent / "linked").symlink_to(book)
    assert list_places(book.parent / "linked", column="text") == ["one.txt", "two/page.html", "two/table.csv"]


def test_what_nmt_wrote_into_a_folder_and_other_files_of_the_command_are_not_translated(book: Path) -> None:
    written = WrittenFiles()
    write_files(book, {"one.de.txt": "Eins.\n", "memory.tmx": "<tmx/>", "far.txt": "Fern.\n"})
    written.add(book / "one.de.txt", book / "one.de.txt", book / "one.txt", "")
    written.add(book / "far.txt", book / "far.txt", book.parent / "elsewhere.txt", "")
    content = list_files([book], f"{book}/out", DocumentOptions(), [book / "memory.tmx"])
    assert [str(file.relative) for file in content.files] == ["far.txt", "one.txt", "two/page.html"]
    reasons = {path.name: reason for path, reason in content.skipped}
    assert (reasons["one.de.txt"], reasons["memory.tmx"]) == ("the translation of one.txt", "used by another option")


def test_a_record_knows_the_memory_with_which_a_file_was_written(book: Path) -> None:
    (out := book / "out").mkdir(exist_ok=True)
    (out / "one.txt").write_text("Eins.\n")
    memories = [book / "memory.tmx", book.parent / "old file.docx"]
    WrittenFiles().add(out / "one.txt", out / "one.txt", book / "one.txt", "", memories)
    known = WrittenFiles()
    lacking = [known.list_lacking(out / "one.txt", some) for some in (memories, memories[:1], [])]
    names = [path.name for path in memories]
    assert [[path.name for path in paths] for paths in lacking] == [[], names[1:], names]


def test_options_decide_what_can_be_read(book: Path) -> None:
    assert list_places(book, column="text") == ["one.txt", "two/page.html", "two/table.csv"]
    assert list_places(book, format="text") == ["Makefile", "old.docx", "one.txt", "two/page.html", "two/table.csv"]
    with pytest.raises(NotFoundError, match="6 of 6 files"):
        list_places(book, format="docx")


@pytest.mark.parametrize(
    ("names", "columns"),
    [
        (["two/table.csv", "one.txt"], [("text",), ()]),
        (["two", "one.txt"], [(), ("text",), ()]),
        (["one.txt", "two/page.html"], None),  # none of which has columns
    ],
)
def test_a_file_lacks_an_option_only_beside_one_that_has_it(
    book: Path, names: list[str], columns: list[tuple[str, ...]] | None
) -> None:
    config = DocumentOptions(column=("text",))
    files = list_files([book / name for name in names], "out/", config).files
    opener = DocumentOpener(DocumentSource((), "x", config, "de"), str, is_bare=True, console=SimpleNamespace())  # type: ignore[arg-type]
    if columns is None:
        with pytest.raises(OptionError, match="which has no columns"):
            opener.open_files(files, [], is_apart=True)
    else:
        opened = opener.open_files(files, [], is_apart=True)
        assert [document.source.config.column for document in opened] == columns


def test_a_named_file_is_never_skipped_and_many_skipped_ones_are_shortened(book: Path) -> None:
    named = list_files([book / "two/logo.png"], "out/", DocumentOptions())
    picture = InputFile(book / "two/logo.png", Path("logo.png"), frozenset({"picture"}))
    assert named.files == [picture] and not named.describe_skipped()
    write_files(book, {f"{number}.xyz": "?" for number in range(9)})
    told = list_files([book], None, DocumentOptions()).describe_skipped()
    assert told.endswith("4.xyz ...") and told.startswith("11 of 16 files")


def test_a_folder_needs_a_folder_and_something_to_translate(book: Path) -> None:
    with pytest.raises(NotFoundError, match=r"two/ has no file to translate; 2 of 2 files"):
        (book / "two/page.html").unlink()
        list_files([book / "two"], None, DocumentOptions())
    assert require_folder_for_output([book], "new") == "new/"
    assert require_folder_for_output([book], "new/") == "new/"
    assert require_folder_for_output([book / "one.txt"], "new") == "new"
    assert require_folder_for_output([book], "{name}.{lang}{ext}") == "{name}.{lang}{ext}"
    for output in (None, "-", str(book / "one.txt"), "new.txt"):
        with pytest.raises(OptionError, match="is a folder"):
            require_folder_for_output([book], output)
