"""How many examples Hypothesis tries of a property: the profile of a run decides, and the cost of the property."""

from hypothesis import settings

FEWEST = 5


def examples(number: int) -> settings:
    """Tries `number` examples where an ordinary property has 100; fewer or more by the profile of the run."""
    return settings(max_examples=max(FEWEST, number * settings().max_examples // 100))
