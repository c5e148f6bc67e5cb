import pytest

from stackroom.deletions.deletions import Deletions
from tests.unit.pipeline import Pipeline


@pytest.fixture
def pipeline() -> Pipeline:
    return Pipeline()


@pytest.fixture
def deletions(pipeline: Pipeline) -> Deletions:
    return Deletions(
        catalogs=pipeline.catalogs,
        documents=pipeline.documents,
        bucket=pipeline.bucket,
        receipts=pipeline.receipts,
        uploads=pipeline.uploads,
        requests=pipeline.requests,
        now=pipeline.clock,
    )
