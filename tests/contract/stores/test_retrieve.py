"""
What the ways to search a knowledge base of Bedrock's promise beside what all stores do.

Retrieve has options of its own; and the same knowledge base can be searched in several ways.
"""

import time
from dataclasses import replace

import pytest

from stackroom.aws.retrieve_models import Attribute, ImplicitFilter
from stackroom.aws.retrieve_options import RetrieveOptions
from stackroom.deadlines import Deadline
from stackroom.errors import KnowledgeBaseUnavailable
from stackroom.ports.retrieval import Search
from stackroom.tenancy import Tenant
from stackroom_local.simulator import retrieval
from stackroom_local.simulator.rules import RETRIEVE_PAGE
from tests.contract.stores.bedrock import Simulated, Stocked
from tests.contract.stores.relay import Answer, Call, PassOn, Relay
from tests.contract.stores.shelves import DOCS, QUESTION
from tests.contract.stores.test_filters import found

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def stocked(bedrock: Simulated) -> Stocked:
    return bedrock.stocked(DOCS)


def test_both_ways_see_the_same_similarity_and_the_same_attributes(stocked: Stocked) -> None:
    asked = ("annual leave", Tenant("alice").filter(), 10)

    by_retrieve, directly = (
        {each.uri: each for each in way.retrieve(*asked).passages}
        for way in (stocked.by_retrieve, stocked.directly(Search.HYBRID))
    )

    assert directly.keys() == by_retrieve.keys()
    for uri, passage in directly.items():
        assert passage.attributes == by_retrieve[uri].attributes
        assert passage.similarity == pytest.approx(by_retrieve[uri].similarity, abs=1e-4)


@pytest.mark.parametrize("size", [1, 1500])  # one passage a page, and two or three
def test_a_knowledge_base_is_asked_in_pages_up_to_what_was_asked_for(
    stocked: Stocked, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    whole = found(stocked.by_retrieve, None)
    # The simulator runs in this process.
    monkeypatch.setattr(retrieval, "RETRIEVE_PAGE", replace(RETRIEVE_PAGE, value=size))

    in_pages = stocked.by_retrieve.retrieve("annual leave", None, 10)
    cut = stocked.by_retrieve.retrieve("annual leave", None, 5)
    response = stocked.client("bedrock-agent-runtime").retrieve(
        knowledgeBaseId=stocked.knowledge_base_id, retrievalQuery={"text": "annual leave"}
    )

    assert 1 <= len(response["retrievalResults"]) < 5
    assert "nextToken" in response
    assert found(stocked.by_retrieve, None) == whole
    assert len(in_pages.passages) == len(DOCS.documents)
    assert [each.uri for each in cut.passages] == [each.uri for each in in_pages.passages[:5]]
    assert in_pages.notice is None


def test_the_page_behind_the_deadline_is_not_asked_for(
    stocked: Stocked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrieval, "RETRIEVE_PAGE", replace(RETRIEVE_PAGE, value=1))
    deadline = Deadline.after(0.2)

    def answers_behind_it(call: Call, pass_on: PassOn) -> Answer:
        time.sleep(deadline.left())
        return pass_on(call)

    with Relay(stocked.endpoint) as relay, relay.spoiling(answers_behind_it, at="/retrieve"):
        knowledge_base = replace(stocked, endpoint=relay.endpoint).by_retrieve
        with pytest.raises(KnowledgeBaseUnavailable, match="DeadlinePassed"):
            knowledge_base.retrieve(QUESTION, None, 10, deadline=deadline)

    assert len(relay.calls) == 1


def test_fixed_implicit_and_demanded_filters_hold_together(stocked: Stocked) -> None:
    city = Attribute(key="city", type="STRING", description="`Rome`, `Berlin` or `Paris`")
    model = "anthropic.claude-3-5-sonnet-20240620-v1:0"
    options = RetrieveOptions(
        fixed_filter={"equals": {"key": "year", "value": 2026}},
        implicit_filter=ImplicitFilter(model_arn=model, attributes=(city,)),
    )
    knowledge_base = stocked.retrieved_with(options)

    fixed = found(knowledge_base, None)
    demanded = found(knowledge_base, Tenant("alice").filter())
    asked = knowledge_base.retrieve("annual leave in Rome", None, 10)
    nobody = knowledge_base.retrieve("annual leave in Rome", Tenant("alice").filter(), 10)

    assert fixed == {"alice/berlin.txt", "alice/paris.txt", "bob/rome.txt"}
    assert demanded == {"alice/berlin.txt", "alice/paris.txt"}
    assert [each.uri for each in asked.passages] == ["s3://docs/bob/cat-3/rome.txt"]
    assert nobody.passages == ()
