"""
A sample of `make chaos`: each kind of story that tests/campaigns/test_stories.py lacks with one
mishap, and interleavings.
"""

from random import Random

import pytest
from hypothesis.stateful import run_state_machine_as_test

from bedrock_kb_simulator.faults import Fault, Kind
from stackroom.aws.dynamodb.catalog_records import DynamoCatalogs
from tests.aws.stores import CATALOG_TABLE
from tests.campaigns.chaos.deployment import Terms, place_of
from tests.campaigns.chaos.interleavings import SETTINGS, Interleaving
from tests.campaigns.chaos.trials import Trial, all_of, plain
from tests.campaigns.chaos.truth import discrepancies
from tests.campaigns.chaos.wire import Wire
from tests.campaigns.chaos.world import world

SAMPLE = (
    "re-drop again and again, own source",
    "delete, by jobs",
    "catalog kept, shared source",
    "rejected after a good one, own source",
    "rejected, and taken by Bedrock, by jobs",
    "over a cap, shared source",
    "over a cap, by jobs",
)
KEY = "alice/research/a.txt"
INGEST = "IngestKnowledgeBaseDocuments"


@pytest.mark.parametrize("name", SAMPLE)
def test_story_agrees_after_every_kind_of_failure(wire: Wire, name: str) -> None:
    story = plain(wire, name)
    trial = Random(name).choice(list(all_of(name, story)))

    outcome = trial.run(wire)

    assert story.discrepancies == []
    assert outcome.discrepancies == [], outcome.told


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("delete under way, shared source", 1.0),
        ("first drop, by jobs", 7200.0),
    ],
)
def test_no_document_fails_for_an_outage_or_is_stuck_behind_it(
    wire: Wire, name: str, seconds: float
) -> None:
    outcome = Trial(name, outage=(2.0, seconds)).run(wire)

    assert outcome.discrepancies == [], outcome.told
    assert outcome.injected or seconds == 1.0


def test_any_interleaving_of_people_and_faults_ends_in_agreement(wire: Wire) -> None:
    Interleaving.wire = wire

    run_state_machine_as_test(Interleaving, settings=SETTINGS)

    assert Interleaving.injected.total() > 0


def test_text_that_comes_back_and_that_bedrock_denies_is_removed_once_more(wire: Wire) -> None:
    place = place_of(KEY)
    with world(wire, Terms()) as made:
        for key in (KEY, "alice/research/b.txt"):
            made.drop(key, "a text")
        made.settle()
        made.remove(KEY)
        made.deleted.add(KEY)
        before = made.reconcile()
        made.faults.ask(Fault(operation=INGEST, kind=Kind.UNSEEN, seconds=1e9))
        catalogs = DynamoCatalogs(client=wire.client("dynamodb"), table=CATALOG_TABLE)
        catalog = catalogs.get(place.catalog_id)
        assert catalog is not None
        with made.unheard():  # as a call that was accepted long ago, and is carried out now
            made.drop(KEY, "a text")
            own = {"catalog_id": place.catalog_id, "filename": place.filename}
            made.ingest(KEY, into=str(catalog.data_source_id), user_id="alice", **own)
            made.remove(KEY)

        found = made.reconcile()

        assert (before, found) == ({}, {"found_after_deletion": 1})
        assert discrepancies(made) == []
        assert made.reconcile() == {}


def test_a_reconciliation_that_was_cut_short_is_followed_by_a_whole_one(wire: Wire) -> None:
    """Found by `make chaos`: the first pass has gone by where the file then came to lie."""
    Interleaving.wire = wire
    story = Interleaving()
    story.open(slots=0, by_jobs=False, deliveries=1)
    story.reconcile()
    story.drop_unheard("alice/one/a.txt")
    story.fail(("ListKnowledgeBaseDocuments", Kind.LOST), 4)

    story.teardown()
