"""
A sample of `make chaos`: each story but those of every day with one mishap, and interleavings.
"""

from random import Random

import pytest
from hypothesis.stateful import run_state_machine_as_test

from stackroom.aws.catalogs import DynamoCatalogs
from stackroom_local.simulator.disturbances import Kind
from stackroom_local.simulator.faults import Fault
from tests.aws.stores import CATALOG_TABLE
from tests.campaigns.chaos.deployment import Terms, place_of
from tests.campaigns.chaos.interleavings import SETTINGS, Interleaving
from tests.campaigns.chaos.scenarios import SCENARIOS
from tests.campaigns.chaos.trials import all_of, plain
from tests.campaigns.chaos.truth import discrepancies
from tests.campaigns.chaos.wire import Wire
from tests.campaigns.chaos.world import World, world
from tests.campaigns.test_stories import EVERY_DAY

KEY = "alice/research/a.txt"


@pytest.mark.parametrize("name", [each for each in SCENARIOS if each not in EVERY_DAY])
def test_a_story_agrees_whatever_goes_wrong_in_it(wire: Wire, name: str) -> None:
    story = plain(wire, name)
    trial = Random(name).choice(list(all_of(name, story)))

    outcome = trial.run(wire)

    assert story.discrepancies == []
    assert outcome.discrepancies == [], outcome.told


def test_any_interleaving_of_people_and_faults_ends_in_agreement(wire: Wire) -> None:
    Interleaving.wire = wire

    run_state_machine_as_test(Interleaving, settings=SETTINGS)

    assert Interleaving.injected.total() > 0


def test_text_that_comes_back_and_that_bedrock_denies_is_removed_once_more(wire: Wire) -> None:
    with world(wire, Terms()) as made:
        for key in (KEY, "alice/research/b.txt"):
            made.drop(key, "a text")
        made.settle()
        made.remove(KEY)
        made.deleted.add(KEY)
        before = made.reconcile()
        unseen = Fault(operation="IngestKnowledgeBaseDocuments", kind=Kind.UNSEEN, seconds=1e9)
        made.faults.ask(unseen)
        ingest_again(made, KEY)

        found = made.reconcile()

        assert (before, found) == ({}, {"found_after_deletion": 1})
        assert discrepancies(made) == []
        assert made.reconcile() == {}


def ingest_again(made: World, key: str) -> None:
    """As a call that was accepted long ago, and is carried out now; its object is gone since."""
    place, (member,) = place_of(key), made.pool
    catalog = DynamoCatalogs(client=made.wire.client("dynamodb"), table=CATALOG_TABLE).get(
        place.catalog_id
    )
    assert catalog is not None
    attributes = {"user_id": "alice", "catalog_id": place.catalog_id, "filename": place.filename}
    attributes["document_id"] = place.document_id
    text = {"type": "TEXT", "textContent": {"data": "a text"}}
    made.account.client("bedrock-agent", unpaced=True).ingest_knowledge_base_documents(
        knowledgeBaseId=member.knowledge_base_id,
        dataSourceId=catalog.data_source_id,
        documents=[
            {
                "content": {
                    "dataSourceType": "CUSTOM",
                    "custom": {
                        "customDocumentIdentifier": {"id": place.document_id},
                        "sourceType": "IN_LINE",
                        "inlineContent": text,
                    },
                },
                "metadata": {
                    "type": "IN_LINE_ATTRIBUTE",
                    "inlineAttributes": [
                        {"key": name, "value": {"type": "STRING", "stringValue": value}}
                        for name, value in attributes.items()
                    ],
                },
            }
        ],
    )
    made.pass_time(20)


def test_a_reconciliation_that_was_cut_short_is_followed_by_a_whole_one(wire: Wire) -> None:
    """Found by `make chaos`: the first pass has gone by where the file then came to lie."""
    Interleaving.wire = wire
    story = Interleaving()
    story.open(slots=0, by_jobs=False, deliveries=1)
    story.reconcile()
    story.drop_unheard("alice/one/a.txt")
    story.fail(("ListKnowledgeBaseDocuments", Kind.LOST), 4)

    story.teardown()
