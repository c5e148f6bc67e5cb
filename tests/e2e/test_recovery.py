"""What failed for a reason that has nothing to do with the file, in a local mode of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from stackroom.model import DocumentStatus
from stackroom_local.clients import client
from stackroom_local.state import Instance
from tests.e2e.people import Person
from tests.local.running import ANY_SCORE, local_mode, stackroom

pytestmark = pytest.mark.processes


@pytest.fixture
def heidi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Person]:
    with local_mode(tmp_path_factory.mktemp("recovery") / "state", *ANY_SCORE) as running:
        yield Person(running, "heidi")


def test_what_failed_for_want_of_an_index_says_so_until_a_retry_has_it_found(
    heidi: Person,
) -> None:
    """What is dropped next to it doesn't try it again: direct calls name their own documents."""
    with index_missing(heidi.instance):
        heidi.settle([heidi.put("letters/first.txt", "The first letter is from Bruges.")])
    heidi.settle([heidi.put("letters/second.txt", "The second letter is from Antwerp.")])
    failed = heidi.record("letters/first.txt")
    before = heidi.files_found("Which letter is from Bruges?")

    retried = stackroom("retry", "-u", "heidi", state_dir=heidi.instance.state_dir)

    heidi.await_status("letters/first.txt", DocumentStatus.INDEXED)
    assert failed is not None
    assert failed.status is DocumentStatus.FAILED
    assert before == ["second.txt"]
    assert retried.returncode == 0, retried.stderr
    assert set(heidi.files_found("Which letter is from Bruges?")) == {"first.txt", "second.txt"}


@contextmanager
def index_missing(instance: Instance) -> Iterator[None]:
    """Without the index there is nowhere to write vectors; afterwards it is there as before."""
    s3vectors = client("s3vectors", instance.simulator_endpoint)
    bucket = s3vectors.list_vector_buckets()["vectorBuckets"][0]["vectorBucketName"]
    name = s3vectors.list_indexes(vectorBucketName=bucket)["indexes"][0]["indexName"]
    index: dict[str, Any] = s3vectors.get_index(vectorBucketName=bucket, indexName=name)["index"]
    s3vectors.delete_index(vectorBucketName=bucket, indexName=name)
    yield
    same = ("vectorBucketName", "indexName", "dataType", "dimension", "distanceMetric")
    s3vectors.create_index(
        **{each: index[each] for each in same},
        metadataConfiguration=index["metadataConfiguration"],
    )
