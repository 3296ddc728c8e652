""""""

from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.search.config import SearchOptions
from nmt_cli.translation.search import MAXIMUM_ROWS, OVERHEAD, batch_by_length


def test_batches_hold_every_line_with_text_once_and_bound_the_work() -> None:
    lengths = [5, 0, 3000, 7, 0, 100_000] + [12] * 700
    batches = batch_by_length(lengths, SearchOptions(beam_size=5), MAXIMUM_ROWS)
    assert sorted(index for batch in batches for index in batch) == [i for i, length in enumerate(lengths) if length]
    assert all(len(batch) * 5 <= 512 for batch in batches)
    assert all(len(batch) == 1 for batch in batches if max(lengths[index] for index in batch) > 12_000)


@given(st.lists(st.integers(1, 200), max_size=600), st.sampled_from([1, 5]))
def test_a_batch_is_padded_less_than_another_would_cost(lengths: list[int], beam: int) -> None:
    for batch in batch_by_length(lengths, SearchOptions(beam_size=beam), MAXIMUM_ROWS):
        batch_lengths = [lengths[index] for index in batch]
        assert sum(batch_lengths[0] - length for length in batch_lengths[:-1]) * beam <= OVERHEAD * batch_lengths[-1]
