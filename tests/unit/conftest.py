import pytest

from tests.support.linked_tools import Office
from tests.unit.pipeline import Pipeline
from tests.unit.reading import Reading
from tests.unit.reconciling import Reconciled


@pytest.fixture
def pipeline() -> Pipeline:
    return Pipeline()


@pytest.fixture
def filled(pipeline: Pipeline) -> Pipeline:
    """A pipeline where a file was dropped."""
    pipeline.drop()
    return pipeline


@pytest.fixture
def indexed(filled: Pipeline) -> Pipeline:
    """A pipeline where a file was dropped and indexed."""
    filled.index()
    return filled


@pytest.fixture
def reading() -> Reading:
    """A pipeline whose files are read."""
    return Reading()


@pytest.fixture
def world() -> Reconciled:
    return Reconciled()


@pytest.fixture
def office() -> Office:
    return Office()
