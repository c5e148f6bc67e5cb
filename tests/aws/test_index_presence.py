"""Looking into an index of S3 Vectors for documents, as a simulated knowledge base fills it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from botocore.stub import Stubber
from moto import mock_aws

from bedrock_kb_simulator.server import Configuration, Simulator
from simulator.tests.world import CUSTOM, World, eventually
from stackroom.aws.s3vectors.index_presence import AT_ONCE, IndexPresence
from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable
from stackroom.model.filters import Has, any_of

SERVICE = "s3vectors"  # of the fixture `client`

ARN = "arn:aws:s3vectors:us-east-1:123456789012:bucket/vectors/index/passages"
S3 = "https://s3.us-east-1.amazonaws.com"
# Cut into several passages, of which any is as near as any other.
LONG = "\n\n".join(f"Chapter {number}. " + "The pump is greased. " * 80 for number in range(8))


@dataclass(frozen=True)
class Filled:
    """A knowledge base, its index, and a CUSTOM data source to fill it by direct calls."""

    world: World
    knowledge_base_id: str
    data_source_id: str
    presence: IndexPresence

    def ingest(self, document_id: str, text: str, **attributes: str) -> None:
        given = {"document_id": document_id, **attributes}
        self._call(
            "ingest_knowledge_base_documents",
            documents=[
                {
                    "content": {
                        "dataSourceType": "CUSTOM",
                        "custom": {
                            "customDocumentIdentifier": {"id": document_id},
                            "sourceType": "IN_LINE",
                            "inlineContent": {"type": "TEXT", "textContent": {"data": text}},
                        },
                    },
                    "metadata": {
                        "type": "IN_LINE_ATTRIBUTE",
                        "inlineAttributes": [
                            {"key": key, "value": {"type": "STRING", "stringValue": value}}
                            for key, value in given.items()
                        ],
                    },
                }
            ],
        )
        eventually(lambda: self.count(document_id))

    def delete(self, document_id: str) -> None:
        named = {"dataSourceType": "CUSTOM", "custom": {"id": document_id}}
        self._call("delete_knowledge_base_documents", documentIdentifiers=[named])

    def count(self, document_id: str, limit: int = 100) -> int:
        found = self.presence.retrieve("anything", Has("document_id", document_id), limit)
        return len(found.passages)

    def _call(self, operation: str, **members: Any) -> None:
        ids = {"knowledgeBaseId": self.knowledge_base_id, "dataSourceId": self.data_source_id}
        getattr(self.world.agent, operation)(**ids, **members)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    data = tmp_path_factory.mktemp("simulator")
    configuration = Configuration(data_dir=data, s3_endpoint=S3, speed=1000)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("AWS_ACCESS_KEY_ID", "testing")
        patched.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        with mock_aws(), Simulator(configuration) as simulator:
            yield World(simulator.endpoint, S3, patient=True)


@pytest.fixture
def filled(simulated: World) -> Filled:
    index = simulated.index()
    home = simulated.knowledge_base(index)
    source = simulated.data_source(home, dataSourceConfiguration=CUSTOM)
    return Filled(simulated, home, source, IndexPresence(simulated.s3vectors, index))


@pytest.mark.processes
def test_a_document_is_there_with_all_its_passages_until_it_is_deleted(filled: Filled) -> None:
    filled.ingest("doc-1", LONG, user_id="alice")
    filled.ingest("doc-2", "A short text.", user_id="alice")

    before = filled.count("doc-1"), filled.count("doc-2")
    no_more_than_asked_for = filled.count("doc-1", limit=1)
    filled.delete("doc-1")
    eventually(lambda: not filled.count("doc-1"))

    assert before[0] > before[1] == 1
    assert no_more_than_asked_for == 1
    assert filled.count("doc-2") == 1


@pytest.mark.processes
def test_one_question_finds_whose_documents_they_are(filled: Filled) -> None:
    numbers = range(AT_ONCE)
    for number in numbers:
        filled.ingest(f"doc-{number}", "A text.", user_id=f"user-{number}")
    filled.ingest("doc-11", "A text.", user_id="!rejected")

    named = any_of(Has("document_id", f"doc-{number}") for number in (*numbers[1:], 99))
    found = filled.presence.retrieve("anything", named, 100).passages
    nobodys = filled.presence.retrieve("anything", Has("user_id", "!rejected"), 100).passages

    assert {each.custom_id: each.attributes["user_id"] for each in found} == {
        f"doc-{number}": f"user-{number}" for number in numbers[1:]
    }
    assert [each.custom_id for each in nobodys] == ["doc-11"]


def test_an_index_that_does_not_answer_is_looked_into_again_later(
    client: Any, stubber: Stubber
) -> None:
    presence = IndexPresence(client, ARN)
    stubber.add_client_error("get_index", "TooManyRequestsException", "not now", 429)
    stubber.add_client_error("get_index", "InternalServerException", "not now", 500)

    with pytest.raises(KnowledgeBaseThrottled):
        presence.retrieve("anything", None, 5)
    with pytest.raises(KnowledgeBaseUnavailable):
        presence.retrieve("anything", None, 5)


def test_paged_answer_is_read_to_its_last_page(client: Any, stubber: Stubber) -> None:
    def answer(document_id: str) -> dict[str, Any]:
        metadata = {"AMAZON_BEDROCK_TEXT": "A text.", "document_id": document_id}
        return {
            "vectors": [{"key": document_id, "metadata": metadata}],
            "distanceMetric": "cosine",
        }

    index = {
        "vectorBucketName": "vectors",
        "indexName": "passages",
        "indexArn": ARN,
        "creationTime": 0,
        "dataType": "float32",
        "dimension": 2,
        "distanceMetric": "cosine",
    }
    asked = {
        "indexArn": ARN,
        "queryVector": {"float32": [1.0, 0.0]},
        "topK": 5,
        "returnMetadata": True,
    }
    stubber.add_response("get_index", {"index": index}, {"indexArn": ARN})
    stubber.add_response("query_vectors", {**answer("doc-1"), "nextToken": "more"}, asked)
    stubber.add_response("query_vectors", answer("doc-2"), {**asked, "nextToken": "more"})

    found = IndexPresence(client, ARN).retrieve("anything", None, 5).passages

    assert [each.attributes["document_id"] for each in found] == ["doc-1", "doc-2"]
