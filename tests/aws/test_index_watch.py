"""An index of S3 Vectors: what GetIndex says of it, how it is changed, and how it is watched."""

from typing import Any

import pytest
from botocore.stub import Stubber

from stackroom.aws.s3vectors.index_creation import S3VectorsIndexes
from stackroom.aws.s3vectors.s3vectors_adapter import IndexWatch
from stackroom.model.passages import Search
from stackroom.search.index_setup import Readiness
from tests.fakes.clock import FakeSeconds
from tests.fakes.search_index import INDEX, SEARCHABLE, an_index

SERVICE = "s3vectors"  # of the fixture `client`


@pytest.fixture
def clock() -> FakeSeconds:
    return FakeSeconds(0.0)


def watching(client: Any, clock: FakeSeconds, search: Search = Search.HYBRID) -> IndexWatch:
    return IndexWatch(client, INDEX, search=search, dimensions=1024, now=clock)


def test_an_index_that_is_made_for_it_is_looked_up_now_and_then(
    client: Any, stubber: Stubber, clock: FakeSeconds
) -> None:
    stubber.add_response("get_index", an_index(), {"indexArn": INDEX})
    watch = watching(client, clock)

    told = [watch.why_not()]
    clock.seconds = 299
    told.append(watch.why_not())
    stubber.assert_no_pending_responses()
    stubber.add_response("get_index", an_index(indexMode="CLASSIC"))
    clock.seconds = 301
    told.append(watch.why_not())

    assert told == [None, None, "it is in CLASSIC mode, not ENHANCED"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (an_index(indexMode="CLASSIC"), "it is in CLASSIC mode, not ENHANCED"),
        (an_index(dimension=512), "it has 512 dimensions, and questions' vectors 1024"),
        (an_index(distanceMetric="euclidean"), "it measures distance by euclidean, not cosine"),
        (
            an_index({**SEARCHABLE, "metadataKey": "title"}),
            "AMAZON_BEDROCK_TEXT is not configured for text search",
        ),
        (
            an_index({**SEARCHABLE, "status": "BUILDING"}),
            "its text search over AMAZON_BEDROCK_TEXT is BUILDING",
        ),
    ],
)
def test_missing_part_of_an_index_is_reported(
    client: Any, stubber: Stubber, clock: FakeSeconds, answer: dict[str, Any], reason: str
) -> None:
    stubber.add_response("get_index", answer)

    assert watching(client, clock).why_not() == reason


def test_index_not_ready_or_not_described_is_checked_again_soon(
    client: Any, stubber: Stubber, clock: FakeSeconds
) -> None:
    """And one from before there were modes is classic."""
    old = an_index()
    del old["index"]["indexMode"]
    watch = watching(client, clock)
    told = []
    stubber.add_response("get_index", an_index({**SEARCHABLE, "status": "BUILDING"}))
    for seconds, answer in ((0, None), (14, old), (16, None), (30, None)):
        clock.seconds = seconds
        told.append(watch.why_not())
        if answer is not None:
            stubber.add_response("get_index", answer)
    stubber.add_client_error("get_index", "AccessDeniedException", "no", 403)
    clock.seconds = 32
    told.append(watch.why_not())

    building = "its text search over AMAZON_BEDROCK_TEXT is BUILDING"
    classic = "it is in CLASSIC mode, not ENHANCED"
    assert told == [building, building, classic, classic, "GetIndex answered AccessDeniedException"]


@pytest.mark.parametrize(
    ("told", "is_enhanced", "text_search"),
    [
        (an_index(indexMode="CLASSIC", metadataConfiguration={}), False, Readiness.MISSING),
        (an_index({**SEARCHABLE, "metadataKey": "title"}), True, Readiness.MISSING),
        (an_index({**SEARCHABLE, "status": "BUILDING"}), True, Readiness.BUILDING),
        (an_index({"metadataKey": "AMAZON_BEDROCK_TEXT"}), True, Readiness.BUILDING),
        (an_index(), True, Readiness.ACTIVE),
    ],
)
def test_index_is_text_searchable_only_when_enhanced_and_text_is_active(
    client: Any, stubber: Stubber, told: dict[str, Any], is_enhanced: bool, text_search: Readiness
) -> None:
    stubber.add_response("get_index", told, {"indexArn": INDEX})

    state = S3VectorsIndexes(client).state(INDEX)

    assert (state.is_enhanced, state.text_search) == (is_enhanced, text_search)
