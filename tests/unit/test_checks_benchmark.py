"""The benchmark of the checks draws only sentences that training does not know."""

from checks import draw_unseen


def test_no_pair_that_training_knows_on_either_side_is_drawn() -> None:
    pairs = [("a", "x"), ("b", "y"), ("B", "z"), ("c", "x"), ("d", "w"), ("d", "v"), ("e", "u")]
    trained = [("b", "q"), ("r", "X")]
    assert sorted(draw_unseen(pairs, trained, 2, 1)) == [("d", "v"), ("e", "u")]
    assert sorted(draw_unseen(pairs, trained, 5, 1)) == [("d", "v"), ("e", "u")]
