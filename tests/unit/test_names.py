"""The documents that a question names."""

import pytest

from stackroom.model.records import Catalog
from stackroom.search.names import NamedDocuments, NameIndex, QuestionNames
from tests.fakes.names import FakeNames
from tests.fakes.pipeline import FakeCatalogs
from tests.support.records import a_catalog

FILES = (
    "BESTBUY_2023_10K.pdf",
    "AMERICANEXPRESS_2022_10K.pdf",
    "3M_2018_10K.pdf",
    "PEPSICO_2023Q1_EARNINGS.pdf",
    "JOHNSON_JOHNSON_2022_10K.pdf",
    "AnnualReport2021.docx",
)


@pytest.mark.parametrize(
    ("question", "file"),
    [
        ("Is 3M capital-intensive by its FY2018 data?", "3M_2018_10K.pdf"),
        ("What did Best Buy earn in FY23?", "BESTBUY_2023_10K.pdf"),
        ("Revenue of American Express in 2022?", "AMERICANEXPRESS_2022_10K.pdf"),
        ("What guidance did PepsiCo give in Q1 2023?", "PEPSICO_2023Q1_EARNINGS.pdf"),
        ("Johnson & Johnson's dividends", "JOHNSON_JOHNSON_2022_10K.pdf"),
        ("What does the annual report say?", "AnnualReport2021.docx"),
    ],
)
def test_names_match_as_people_write_them(question: str, file: str) -> None:
    names = {each: [each] for each in FILES}
    matches = QuestionNames(question).matches(names, given=names)

    assert max(matches, key=lambda each: matches[each]) == file
    assert NameIndex(zip(FILES, FILES, strict=True)).named_in(question) == [file]


def test_question_that_names_nothing_matches_nothing() -> None:
    question = QuestionNames("How is cash managed?")
    names = {each: [each] for each in FILES}

    assert question.matches(names, given=names) == {}
    assert question.matches({}, given={}) == {}


def test_word_common_to_all_names_selects_none() -> None:
    names = {"a": ["A_10K.pdf"], "b": ["B_10K.pdf"]}

    assert QuestionNames("the 10K").matches(names, given=names) == {}


def test_question_that_names_many_documents_names_none() -> None:
    files = [f"report {number} 2022.pdf" for number in range(6)] + ["other.pdf"]

    assert NameIndex((each, each) for each in files).named_in("reports of 2022") == []


def catalogs_of(*catalogs: Catalog) -> FakeCatalogs:
    fake = FakeCatalogs()
    fake.kept = {each.catalog_id: each for each in catalogs}
    return fake


def test_names_of_a_catalog_are_read_page_by_page_and_kept_for_a_while() -> None:
    at, names = [0.0], FakeNames(*FILES)
    documents = NamedDocuments(names, catalogs_of(), seconds=60, now=lambda: at[0])

    first = documents.named_in("Best Buy in 2023", "alice", "cat-1")
    asked = names.asked
    again = documents.named_in("Best Buy in 2023", "alice", "cat-1")
    at[0] = 61.0
    documents.named_in("Best Buy in 2023", "alice", "cat-1")

    assert first == again == ["cat-1/BESTBUY_2023_10K.pdf"]
    assert (asked, names.asked) == (4, 8)


def test_names_are_those_of_the_user_s_own_catalogs() -> None:
    mine, yours = a_catalog(1, "alice"), a_catalog(2, "bob")
    documents = NamedDocuments(FakeNames(*FILES), catalogs_of(mine, yours))

    assert documents.named_in("Best Buy", "alice", None) == ["cat-alice-1/BESTBUY_2023_10K.pdf"]
    assert documents.named_in("Best Buy", "carol", None) == []


def test_names_that_cannot_be_read_name_none() -> None:
    names = FakeNames(*FILES)
    documents = NamedDocuments(names, catalogs_of())
    names.is_down = True

    assert documents.named_in("Best Buy", "alice", "cat-1") == []
