"""Questions are counted for who asks, behind their answers, and refused once a month is spent."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal

import pytest

from stackroom.access.identity import Caller
from stackroom.errors import KnowledgeBaseThrottled, LimitExceeded, NoResults, Throttled
from stackroom.model.caps import EVERYBODY, Caps
from stackroom.model.questions import QuestionMeter
from stackroom.model.usage import NO_CATALOG, Used
from stackroom.search.cited_answers import Answering
from stackroom.search.metered import MeteredRetrieval, used_by
from stackroom.search.results import knowledge_base_retrieve
from stackroom.search.search import Retrieval
from stackroom.search.search_arguments import RetrieveArguments
from tests.fakes.answers import FakeWriter
from tests.fakes.caps import FakeCaps
from tests.fakes.clock import FakeClock
from tests.fakes.knowledge_base import FakeKnowledgeBase
from tests.fakes.usage import FakeUsage, a_meter
from tests.support.records import a_catalog
from tests.support.retrieval import a_retrieval

ALICE = Caller("alice")
QUESTION = "how many days of leave?"  # 23 characters, about 6 tokens
MODEL = "global.amazon.nova-2-lite-v1:0"
CATALOG = a_catalog(catalog_id="cat-1", s3_prefix="alice/cat-1/", knowledge_base_id="KB1")
SEARCHED = Used(questions=1, question_tokens=6)
SPENT = Used(embedded_tokens=1_000_000)  # $0.02


@dataclass
class Desk:
    clock: FakeClock = field(default_factory=FakeClock)
    usage: FakeUsage = field(default_factory=FakeUsage)
    caps: FakeCaps = field(default_factory=FakeCaps)
    store: FakeKnowledgeBase = field(default_factory=FakeKnowledgeBase)
    writer: FakeWriter = field(default_factory=FakeWriter)

    def __post_init__(self) -> None:
        self.meter: QuestionMeter = a_meter(self.usage, self.caps, now=self.clock)
        self.store.put("Thirty days.", score=0.9)
        self.writer.say(("Thirty days.", [1]))
        said = self.writer.written
        self.writer.written = replace(said, model=MODEL, input_tokens=200, output_tokens=10)

    @property
    def retrieval(self) -> Retrieval:
        return a_retrieval(self.store)

    @property
    def answering(self) -> Answering:
        return Answering(retrieval=self.retrieval, writer=self.writer, meter=self.meter)

    def search(self) -> object:
        metered = MeteredRetrieval(retrieval=self.retrieval, meter=self.meter)
        given = {"query": QUESTION}
        told = knowledge_base_retrieve(given, caller=ALICE, retrieval=metered)
        return told.get("errorType") or told["results"]

    def ask(self) -> object:
        return self.answering.ask(QUESTION, CATALOG)

    def ask_all(self) -> object:
        asked = RetrieveArguments(query=QUESTION, top_k=5)
        return self.answering.search_and_ask(asked, ALICE)

    def used(self) -> list[tuple[str, str, str, Used]]:
        kept = self.usage.kept.items()
        return [(user, catalog, model, used) for (_, user, catalog, model), used in kept]


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_search_is_counted_with_its_embedding_tokens(desk: Desk) -> None:
    for _ in range(2):
        assert desk.search()

    assert desk.used() == [("alice", NO_CATALOG, "", SEARCHED + SEARCHED)]


def test_an_answer_is_counted_once_with_what_its_model_read_and_wrote(desk: Desk) -> None:
    whole = SEARCHED + Used(model_input_tokens=200, model_output_tokens=10)

    desk.ask()
    desk.ask_all()

    assert desk.used() == [
        ("alice", CATALOG.catalog_id, MODEL, whole),
        ("alice", NO_CATALOG, MODEL, whole),
    ]


@pytest.mark.parametrize("way", [Desk.search, Desk.ask, Desk.ask_all])
def test_failing_usage_or_caps_store_costs_nobody_an_answer(
    desk: Desk, way: Callable[[Desk], object]
) -> None:
    desk.usage.fails("add", ValueError("down"))
    desk.caps.fails("all", ValueError("down"))

    assert way(desk)


@pytest.mark.parametrize("way", [Desk.search, Desk.ask, Desk.ask_all])
def test_question_over_the_monthly_cap_is_refused_until_next_month(
    desk: Desk, way: Callable[[Desk], object]
) -> None:
    desk.caps.keep(EVERYBODY, Caps(dollars=Decimal("0.02")))
    desk.usage.add("alice", "cat-1", SPENT, at=desk.clock())

    def refused() -> str:
        try:
            answer = way(desk)
        except LimitExceeded as error:
            return str(error)
        return str(answer)

    before = refused()
    asked = len(desk.store.filters)
    desk.clock.pass_by(28 * 86_400)
    after = refused()

    if way is Desk.search:
        assert before == "LimitExceeded"
    else:
        assert before == (
            "The month's cap is spent ($0.020000 of $0.020000). Questions are answered again from"
            " 1 March, or once the operator raises the cap"
        )
    assert asked == 0
    assert "hirty" in after


def test_spending_is_read_once_a_minute(desk: Desk) -> None:
    desk.caps.keep("alice", Caps(dollars=Decimal("0.02")))
    desk.search()
    desk.usage.add("alice", "cat-1", SPENT, at=desk.clock())
    desk.search()
    desk.clock.pass_by(61)

    assert desk.search() == "LimitExceeded"
    desk.caps.remove("alice")
    assert desk.search() == "LimitExceeded"
    desk.clock.pass_by(61)
    assert desk.search() != "LimitExceeded"


@pytest.mark.parametrize(
    ("is_cached", "tokens"),
    [(None, 2 * 6), (False, 6), (True, 0)],
    ids=["by stores", "new", "kept"],
)
def test_question_vector_is_counted_each_time_it_is_made(
    is_cached: bool | None, tokens: int
) -> None:
    found = replace(
        Desk().retrieval.search(RetrieveArguments.model_validate({"query": QUESTION}), ALICE),
        knowledge_bases=("KB1", "KB2"),
        is_embedding_cached=is_cached,
    )

    assert used_by(QUESTION, found) == Used(questions=1, question_tokens=tokens)


def test_unanswered_question_is_counted_up_to_its_last_step(desk: Desk) -> None:
    desk.writer.say(rest="I do not know.")
    desk.writer.written = replace(desk.writer.written, model=MODEL, input_tokens=5)
    with pytest.raises(NoResults):
        desk.ask()
    desk.writer.failure = KnowledgeBaseThrottled("Converse")
    with pytest.raises(Throttled):
        desk.ask()

    assert [used for *_, used in desk.used()] == [SEARCHED + Used(model_input_tokens=5), SEARCHED]
