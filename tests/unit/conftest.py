import pytest

from tests.unit.pipeline import Pipeline
from tests.unit.reconciling import Reconciled


@pytest.fixture
def pipeline() -> Pipeline:
    return Pipeline()


@pytest.fixture
def world() -> Reconciled:
    return Reconciled()
