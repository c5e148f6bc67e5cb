"""Every `SearchIndexes` makes an index as requested, and reports its state."""

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest

from simulator.tests.world import World
from stackroom.aws.s3vectors.index_creation import S3VectorsIndexes
from stackroom.search.index_setup import (
    IndexState,
    Readiness,
    SearchIndexBusy,
    SearchIndexes,
    SearchIndexGone,
)
from tests.fakes.search_index import BUCKET, INDEX, FakeSearchIndexes

pytestmark = pytest.mark.processes


@dataclass(frozen=True)
class Held:
    """An index of the newer mode, without text search, in a bucket."""

    port: SearchIndexes
    index: str
    bucket: str


@pytest.fixture(params=["fake", "s3vectors"])
def held(request: pytest.FixtureRequest) -> Held:
    if request.param == "fake":
        return Held(FakeSearchIndexes(), INDEX, BUCKET)
    world: World = request.getfixturevalue("simulated")
    return Held(S3VectorsIndexes(world.s3vectors), *_made(world.s3vectors))


def _made(s3vectors: Any) -> tuple[str, str]:
    bucket = f"vectors-{uuid4().hex}"
    made = s3vectors.create_vector_bucket(vectorBucketName=bucket)
    index = s3vectors.create_index(
        vectorBucketName=bucket,
        indexName="passages",
        dataType="float32",
        dimension=8,
        distanceMetric="cosine",
        metadataConfiguration={"nonFilterableMetadataKeys": ["AMAZON_BEDROCK_TEXT"]},
    )
    return index["indexArn"], made["vectorBucketArn"]


@pytest.mark.parametrize("language", ["ja", None])
def test_text_search_is_added_on_request_in_the_given_language(
    held: Held, language: str | None
) -> None:
    before = held.port.state(held.index)

    held.port.add_text_search(held.index, language)

    state = held.port.state(held.index)
    assert before == IndexState(is_enhanced=True, text_search=Readiness.MISSING)
    assert state.language == language
    assert state.readiness in (Readiness.BUILDING, Readiness.ACTIVE)


def test_second_text_search_is_refused_until_the_first_is_removed(held: Held) -> None:
    held.port.add_text_search(held.index, "en")
    with pytest.raises(SearchIndexBusy):
        held.port.add_text_search(held.index, "de")

    held.port.remove_text_search(held.index)
    removed = held.port.state(held.index)
    held.port.add_text_search(held.index, "de")

    assert (removed.text_search, removed.language) == (Readiness.MISSING, None)
    assert held.port.state(held.index).language == "de"


def test_call_on_a_missing_index_is_refused(held: Held) -> None:
    index, bucket = f"{held.index}-of-nobody", f"{held.bucket}-of-nobody"
    calls = (
        lambda: held.port.state(index),
        lambda: held.port.enhance(index),
        lambda: held.port.enhance_those_to_come(bucket),
        lambda: held.port.add_text_search(index, "en"),
        lambda: held.port.remove_text_search(index),
    )

    for call in calls:
        with pytest.raises(SearchIndexGone, match="of-nobody"):
            call()
