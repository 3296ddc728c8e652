"""The number that a bar shows while files are translated."""

from nmt_cli.api.translating.translate import FinishedLines


def test_lines_are_counted_while_a_block_is_searched_and_never_backwards() -> None:
    shown = list[int]()
    finished = FinishedLines(shown.append)
    for texts in (100, 512, 1024):
        finished.search(texts)
    finished.write(4096, 1024)  # subtitles: four lines each
    finished.search(1024 + 512)
    finished.write(4096, 2048)
    assert shown == [100, 512, 1024, 4096, 4096 + 2048, 8192]
