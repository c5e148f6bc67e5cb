"""Two hundred tenants at one knowledge base by Bedrock's Retrieve, one of whom floods it."""

from benchmarks.retrieval_world import World

SECONDS = 40.0


def test_flood_of_questions_is_told_when_to_ask_again_and_nothing_is_wrong() -> None:
    quiet, flooded = World(seed=0), World(seed=0)
    quiet.asked(SECONDS, 0.0)
    flooded.asked(SECONDS, 100.0)

    others, flooder = flooded.results[False], flooded.results[True]

    assert len(quiet.results[False].answered) == quiet.results[False].asked > 300
    assert flooder.wrong == others.wrong == quiet.results[False].wrong == 0
    assert 5 * SECONDS < len(flooder.answered) < 25 * SECONDS
    assert len(flooder.shed) > 60 * SECONDS
    assert all(each is not None and each >= 1 for each in [*flooder.shed, *others.shed])
