"""
The one door from pytest to the campaigns: a sample of each, and that it sees what it looks for.

As a whole they are programs: `make chaos`, `make soak`, `make attack`, `make permissions`.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from hypothesis.stateful import run_state_machine_as_test

from stackroom import tenancy
from stackroom.ports.retrieval import Passage
from stackroom.tenancy import Owned, Readers
from stackroom_local.processes import free_ports
from stackroom_local.simulator.disturbances import Kind
from stackroom_local.state import Instance
from tests.campaigns.attack import campaign, linked, linked_stage, naming, pretending, stored
from tests.campaigns.attack.breaking import broken, without_interceptor, without_owners
from tests.campaigns.attack.linked_stage import LinkedStage
from tests.campaigns.attack.linked_stores import CLOSED, STORES
from tests.campaigns.attack.stage import TOOLS, Stage, staged
from tests.campaigns.attack.stored import furnished
from tests.campaigns.chaos.interleavings import SETTINGS, Interleaving
from tests.campaigns.chaos.scenarios import SCENARIOS
from tests.campaigns.chaos.trials import all_of, observe, play
from tests.campaigns.chaos.wire import Wire
from tests.campaigns.permissions import agents
from tests.campaigns.permissions.agent_stack import CLERK, LIBRARIAN, MECHANIC
from tests.campaigns.permissions.report import DOCUMENT, documented_of_agents
from tests.campaigns.permissions.roles import Grant
from tests.campaigns.soak.mode import Mode
from tests.campaigns.soak.soak import KINDS, Soak
from tests.campaigns.test_stories import EVERY_DAY

ATTACK, LINKED = 9, 11  # seeds
READING = {"list_catalog_documents", "get_indexing_status", "download_from_catalog"}


# Chaos.


@pytest.mark.parametrize("name", [each for each in SCENARIOS if each not in EVERY_DAY])
def test_a_story_agrees_whatever_goes_wrong_in_it(wire: Wire, name: str) -> None:
    plain = play(wire, SCENARIOS[name], trouble=observe)
    trial = Random(name).choice(list(all_of(name, plain)))

    outcome = trial.run(wire)

    assert plain.discrepancies == []
    assert outcome.discrepancies == [], outcome.told


def test_any_interleaving_of_people_and_faults_ends_in_agreement(wire: Wire) -> None:
    Interleaving.wire = wire

    run_state_machine_as_test(Interleaving, settings=SETTINGS)

    assert Interleaving.injected.total() > 0


def test_a_reconciliation_that_was_cut_short_is_followed_by_a_whole_one(wire: Wire) -> None:
    """Found by `make chaos`: the first pass has gone by where the file then came to lie."""
    Interleaving.wire = wire
    story = Interleaving()
    story.open(slots=0, by_jobs=False, deliveries=1)
    story.reconcile()
    story.drop_unheard("alice/one/a.txt")
    story.fail(("ListKnowledgeBaseDocuments", Kind.LOST), 4)

    story.teardown()


# The soak.


@pytest.mark.processes
@pytest.mark.timeout(1800)
def test_after_a_minute_of_kills_everybody_sees_what_they_dropped(tmp_path: Path) -> None:
    told: list[str] = []
    soak = Soak(
        mode=Mode(tmp_path, free_ports(4), speed=40),
        seed=8,
        minutes=1,
        patience=600,
        tell=told.append,
    )

    tally = soak.run()

    assert tally.disagreements == [], [*told, tally.told()]
    assert tally.kills.keys() == set(KINDS)


# The attack, in the local mode that all end-to-end tests share.


@pytest.fixture(scope="module")
def stage(instance: Instance) -> Iterator[Stage]:
    cast = {"victim": ("ida", "harbour"), "attacker": ("kim", "sea")}
    with staged(instance, ATTACK, **cast) as found:
        yield found


def test_no_attempt_of_a_sample_reaches_what_is_another_users(stage: Stage) -> None:
    every = list(campaign.attempts(stage, ATTACK))

    tally = campaign.run(stage, campaign.attempts(stage, ATTACK, share=5))

    assert (tally.leaks, tally.unstructured, tally.changes) == ({}, {}, [])
    assert set(TOOLS) <= set(tally.tools)
    assert len(every) >= 1000


def test_where_nobody_asks_whose_a_catalog_is_it_is_seen(stage: Stage, tmp_path: Path) -> None:
    with broken(stage, tmp_path, without_owners) as open_to_all:
        # Those that change nothing, for this stage is to be used again.
        reading = [
            each
            for each in naming.foreign_ids(open_to_all, Random(ATTACK))
            if each.name == "as it is" and each.tool in READING
        ]
        tally = campaign.judge(open_to_all, reading)

    assert len(tally.leaks) == len(READING)


def test_where_no_interceptor_sets_the_headers_it_is_seen(stage: Stage, tmp_path: Path) -> None:
    with broken(stage, tmp_path, without_interceptor) as believing:
        tally = campaign.judge(believing, islice(pretending.spoofed(believing, Random(ATTACK)), 3))

    assert "tells" in str(tally.leaks)


# The attack on what an agent was given to search.


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LinkedStage]:
    folder = tmp_path_factory.mktemp("simulator")
    with linked_stage.staged(folder, LINKED) as found, furnished(found):
        yield found


@pytest.mark.processes
def test_no_attempt_finds_what_its_caller_may_not_read(given: LinkedStage) -> None:
    found = linked.judge(given, linked.attempts(given, LINKED))

    assert not any(found.wrong.values()), found.wrong
    assert found.attempts.total() >= 300, found.told()


@pytest.mark.processes
def test_nor_in_any_store_that_the_agent_searches_itself(given: LinkedStage) -> None:
    found = linked.judge(given, stored.attempts(given, LINKED))

    assert not any(found.wrong.values()), found.wrong
    assert len(given.stores) == len(STORES)
    assert found.attempts.total() >= 250 * len(STORES), found.told()


@pytest.mark.processes
@pytest.mark.parametrize("store", STORES)
def test_where_no_filter_tells_users_of_a_store_apart_it_is_seen(
    given: LinkedStage, monkeypatch: pytest.MonkeyPatch, store: str
) -> None:
    def believed(_: Owned, passages: Iterable[Passage], **__: object) -> tuple[Passage, ...]:
        return tuple(passages)

    monkeypatch.setattr(Owned, "filter", lambda *_: None)
    refused = linked.judge(given, stored.owners(given, store, Random(LINKED)))
    monkeypatch.setattr(Owned, "proven", believed)
    found = linked.judge(given, stored.owners(given, store, Random(LINKED)))

    # A store that ignores the filter is believed in nothing; that is the second of two locks.
    assert (refused.leaks, len(refused.missing) > 15) == ({}, True)
    assert (found.leaks == {}) if store in CLOSED else (len(found.leaks) > 40)


@pytest.mark.processes
def test_where_no_filter_tells_groups_apart_it_is_seen(
    given: LinkedStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Readers, "filter", lambda *_: None)
    refused = linked.judge(given, linked.groups(given, Random(LINKED)))
    monkeypatch.setattr(tenancy, "_is_shared", lambda *_: True)
    found = linked.judge(given, linked.groups(given, Random(LINKED)))

    # A store that ignores the filter is believed in nothing; that is the second of two locks.
    assert (refused.leaks, len(refused.missing) > 30) == ({}, True)
    assert {name.split(" · ")[0] for name in found.leaks} == {"groups", "groups in MANAGED"}
    assert len(found.leaks) > 100


@pytest.mark.processes
def test_where_owners_do_not_count_it_is_seen_in_every_pool(
    given: LinkedStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tenancy, "_is_owned", lambda _: False)

    found = linked.judge(given, linked.pools(given, Random(LINKED)))

    pools = {name.split(" · ")[1].partition(",")[0] for name in found.leaks}
    assert pools == {
        *("mistaken", "mistaken with groups", "mistaken by team", "mistaken in MANAGED", "nobody")
    }


# The permissions: of functions in tests/e2e/test_permissions.py, of agents here.


@pytest.mark.processes
def test_agents_do_all_that_they_do_with_exactly_their_rights() -> None:
    outcome = agents.run(lambda _: None)

    told = {"success": True, "result": agents.ANSWER}
    at_length = {"success": True, "result": f"{agents.ANSWER} 1.08 it is."}
    assert outcome.answers[CLERK] == [at_length, at_length, {"batchItemFailures": []}]
    assert [each["result"] for each in outcome.sent] == [at_length["result"]]
    assert outcome.answers[LIBRARIAN] == outcome.answers[MECHANIC] == [told]
    assert [str(each) for each in outcome.comparison.denied] == []
    assert outcome.comparison.unused == [Grant(CLERK, "bedrock:RetrieveAndGenerate", "*")]
    granted = {each for role in outcome.comparison.roles.values() for each in role.grants}
    assert documented_of_agents(DOCUMENT.read_text("utf-8")) == granted, "run: make permissions"
