"""A difference in time would be seen, and noise not be taken for one; nothing is timed here."""

from random import Random

from tests.attack.latency import Comparison


def _refusals(chance: Random, *, milliseconds: float) -> list[float]:
    """As they come on a busy machine: most alike, one in ten much later."""
    late = [each % 10 == 0 for each in range(60)]
    return [milliseconds + chance.random() + (30 * chance.random() if each else 0) for each in late]


def test_a_second_look_at_what_is_anothers_tells() -> None:
    chance = Random(1)

    comparison = Comparison(
        tool="t",
        what="catalog",
        foreign=_refusals(chance, milliseconds=14),
        absent=_refusals(chance, milliseconds=10),
    )

    assert comparison.tells(chance)


def test_the_noise_of_a_machine_tells_nothing() -> None:
    chance = Random(2)

    comparisons = [
        Comparison(
            tool="t",
            what="catalog",
            foreign=_refusals(chance, milliseconds=10),
            absent=_refusals(chance, milliseconds=10),
        )
        for _ in range(50)
    ]

    assert not any(each.tells(chance) for each in comparisons)
