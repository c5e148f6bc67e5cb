"""Two hundred tenants at one knowledge base, one of whom floods it."""

import random

from benchmarks.observation import percentile
from benchmarks.retrieval_world import World

SECONDS, HEARD = 40.0, 5.0


def others_p99(world: World) -> float:
    """From the time on when the function's environments have heard of a flood."""
    return percentile(sorted(took for at, took in world.told[False].answered if at > HEARD), 0.99)


def test_flood_of_questions_is_refused_and_delays_nobody_else() -> None:
    random.seed(1)  # of the pauses
    quiet, flooded = World(paced=True, seed=0), World(paced=True, seed=0)
    quiet.asked(SECONDS, 0.0)
    flooded.asked(SECONDS, 100.0)

    others, flooder = flooded.told[False], flooded.told[True]

    assert len(others.answered) == others.asked > 300
    assert others_p99(flooded) <= 2 * others_p99(quiet)
    assert flooder.wrong == others.wrong == 0
    assert 5 * SECONDS < len(flooder.answered) < 20 * SECONDS
    assert len(flooder.shed) > 60 * SECONDS
    assert all(each is not None and each >= 1 for each in flooder.shed)


def test_without_turns_a_flood_takes_it_all() -> None:
    flooded = World(paced=False, seed=0)

    flooded.asked(SECONDS, 100.0)

    assert len(flooded.told[False].answered) < flooded.told[False].asked / 2
