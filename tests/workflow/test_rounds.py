"""A catalog's run when nothing goes wrong: rounds, and what may happen while they last."""

from tests.workflow.world import World

KEY = "alice/research/report.txt"
ROUND = [
    "EnsureDataSource",
    "IsCatalogPlaced",
    "StartIngestion",
    "IsIngestionStarted",
    "WaitForIngestion",
    "PollIngestion",
    "IsIngestionOver",
    "SettleDocuments",
    "AreDocumentsSettled",
    "ReleaseRun",
    "IsCatalogSettled",
]


def test_a_dropped_file_is_indexed_by_one_run_of_one_round(world: World) -> None:
    world.bedrock.polls = 0

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.status == "SUCCEEDED"
    assert execution.states == [*ROUND, "CatalogSettled"]
    assert world.status(KEY) == "indexed"
    assert world.catalog(KEY).status == "ready"
    assert not world.lease(KEY).held
