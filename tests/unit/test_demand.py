import pytest

from stackroom.admission.demand import LARGE, Demand, demand_of_job, text_size
from stackroom.model import Document, DocumentStatus
from tests.records import a_document


def documents(
    count: int,
    size: int = 10,
    filename: str = "a.txt",
    status: DocumentStatus = DocumentStatus.PENDING,
) -> list[Document]:
    return [a_document(size=size, filename=filename, status=status) for _ in range(count)]


def test_a_job_takes_all_and_is_large_if_any_of_its_documents_is() -> None:
    assert demand_of_job([]) == Demand(size=0, is_large=False)
    assert demand_of_job(documents(2)) == Demand(size=20, is_large=False)
    assert demand_of_job(documents(2) + documents(1, size=LARGE)) == Demand(
        size=LARGE + 20, is_large=True
    )


def test_what_is_to_be_removed_is_never_large() -> None:
    removed = documents(2, size=LARGE, status=DocumentStatus.DELETING)

    assert demand_of_job(removed) == Demand(size=0, is_large=False)


@pytest.mark.parametrize(
    ("filename", "text"), [("a.csv", 1000), ("A.XLSX", 2000), ("a.pdf", 200), ("noextension", 1000)]
)
def test_a_byte_of_a_file_is_worth_as_much_text_as_its_format_has(filename: str, text: int) -> None:
    (document,) = documents(1, size=1000, filename=filename)

    assert text_size(document) == text
