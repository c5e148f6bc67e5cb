import pytest

from stackroom.admission.demand import BATCH, DEMANDS, LARGE, Want, text_size
from stackroom.model import DataSource, DataSourceType, Document, DocumentStatus
from stackroom.ports.admission import Mode
from tests.records import a_document


def a_source(kind: DataSourceType) -> DataSource:
    return DataSource(knowledge_base_id="KB1", data_source_id="DS1", type=kind)


def documents(
    count: int,
    size: int = 10,
    filename: str = "a.txt",
    status: DocumentStatus = DocumentStatus.PENDING,
) -> list[Document]:
    return [a_document(size=size, filename=filename, status=status) for _ in range(count)]


@pytest.mark.parametrize("kind", DataSourceType)
def test_every_type_of_data_source_asks_for_something(kind: DataSourceType) -> None:
    demand = DEMANDS.of(a_source(kind))

    assert demand.mode is (Mode.SHARED if a_source(kind).is_shared else Mode.EXCLUSIVE)
    assert demand.of([]) == Want(calls=1, size=0, is_large=False)


def test_one_job_takes_all_documents_and_direct_calls_take_tens() -> None:
    own, shared = (DEMANDS.of(a_source(each)) for each in DataSourceType)

    assert own.of(documents(3 * BATCH)).calls == 1
    assert [shared.of(documents(each)).calls for each in (1, BATCH, BATCH + 1)] == [1, 1, 2]
    removed = documents(1, status=DocumentStatus.DELETING)
    assert shared.of(removed + documents(BATCH)).calls == 2  # never in one call


def test_a_job_is_large_if_any_of_its_documents_is() -> None:
    want = DEMANDS.own.of(documents(2) + documents(1, size=LARGE))

    assert want == Want(calls=1, size=LARGE + 20, is_large=True)


def test_direct_calls_ask_for_small_documents_first_and_then_for_one_large_one() -> None:
    large = documents(3, size=LARGE)

    assert DEMANDS.shared.of(documents(2) + large) == Want(calls=1, size=20, is_large=False)
    assert DEMANDS.shared.of(large) == Want(calls=1, size=LARGE, is_large=True)


def test_what_is_to_be_removed_is_never_large() -> None:
    removed = documents(2, size=LARGE, status=DocumentStatus.DELETING)

    assert DEMANDS.shared.of(removed) == Want(calls=1, size=0, is_large=False)


@pytest.mark.parametrize(
    ("filename", "text"), [("a.csv", 1000), ("A.XLSX", 2000), ("a.pdf", 200), ("noextension", 1000)]
)
def test_a_byte_of_a_file_is_worth_as_much_text_as_its_format_has(filename: str, text: int) -> None:
    (document,) = documents(1, size=1000, filename=filename)

    assert text_size(document) == text
