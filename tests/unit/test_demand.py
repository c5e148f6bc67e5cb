import pytest

from stackroom.admission.demand import BATCH, DEMANDS
from stackroom.model import DataSource, DataSourceType
from stackroom.ports.admission import Mode


def a_source(kind: DataSourceType) -> DataSource:
    return DataSource(knowledge_base_id="KB1", data_source_id="DS1", type=kind)


@pytest.mark.parametrize("kind", DataSourceType)
def test_every_type_of_data_source_asks_for_something(kind: DataSourceType) -> None:
    demand = DEMANDS.of(a_source(kind))

    assert demand.mode is (Mode.SHARED if a_source(kind).is_shared else Mode.EXCLUSIVE)
    assert demand.calls(0) == 1


def test_one_job_takes_all_documents_and_direct_calls_take_tens() -> None:
    own, shared = (DEMANDS.of(a_source(each)) for each in DataSourceType)

    assert own.calls(3 * BATCH) == 1
    assert [shared.calls(each) for each in (1, BATCH, BATCH + 1)] == [1, 1, 2]
