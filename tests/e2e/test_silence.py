"""A question that the documents don't answer gets no passage; other tests here set no bar."""

from collections.abc import Iterator

import pytest

from stackroom_local.state import Instance
from tests.e2e.people import Person
from tests.local.running import local_mode

pytestmark = pytest.mark.processes

LEAVE = "Employees have thirty days of annual leave. It is asked for two weeks before."
PUMPS = "The pump in the main hall is greased every two hundred hours of operation."


@pytest.fixture(scope="module")
def zoe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Person]:
    running: Instance
    with local_mode(tmp_path_factory.mktemp("silence") / "state") as running:
        person = Person(running, "zoe")
        person.settle([person.put("work/leave.txt", LEAVE), person.put("work/pumps.txt", PUMPS)])
        yield person


@pytest.mark.parametrize(
    ("question", "file"),
    [
        ("How many days off do I get each year?", "leave.txt"),
        ("How often must the pump be greased?", "pumps.txt"),
        ("pump", "pumps.txt"),
    ],
)
def test_what_the_documents_answer_is_found(zoe: Person, question: str, file: str) -> None:
    assert zoe.files_found(question)[0] == file


@pytest.mark.parametrize(
    "question", ["Who won the football world cup in 1998?", "What does a kilo of tomatoes cost?"]
)
def test_what_they_do_not_answer_gets_no_passage_and_says_how_near_the_best_was(
    zoe: Person, question: str
) -> None:
    answer = zoe.call(query=question)

    assert (answer["success"], answer["results"]) == (True, [])
    assert 0 <= answer["metadata"]["best_score_below"] < 0.44
    assert answer["metadata"]["search"] == "hybrid"
