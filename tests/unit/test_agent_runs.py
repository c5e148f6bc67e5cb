"""A user's questions to their agents: accepted, carried out once, called off, bounded."""

import time
from datetime import timedelta
from decimal import Decimal

import pytest

from stackroom.errors import (
    AgentUnfinished,
    LimitReached,
    ModelRefused,
    ModelThrottled,
    ModelUnavailable,
    NotFound,
    ServiceRefused,
    StackroomError,
    StoreUnavailable,
)
from stackroom.model.caps import Caps
from stackroom.model.usage import NO_CATALOG, Used
from stackroom_agents.user_agents.agent_repositories import Brief, Listener
from stackroom_agents.user_agents.agent_run import LONGEST_WAIT, ModelStep, RunState, ToolStep
from stackroom_agents.user_agents.run_bounds import (
    MOST_SECONDS,
    MOST_TOKENS,
    MOST_TOOL_CALLS,
    MOST_TURNS,
    SECONDS_TO_END,
)
from stackroom_agents.user_agents.runs import MOST_AT_ONCE
from tests.support.linked_tools import MODEL, QUESTION, Office, Play, turn


def searching(brief: Brief, listener: Listener) -> None:
    listener.end_turn(turn("I look it up."))
    found = listener.call(brief.tools[0], {"query": "leave", "topK": 99})
    listener.end_turn(turn(f"By the plans: {found['results'][0]['content']}", is_last=True))


def test_agents_and_runs_of_another_user_are_not_found(office: Office) -> None:
    run = office.start()

    for ask in (office.runs.get, office.runs.cancel):
        with pytest.raises(NotFound):
            ask("bob", run.id)
    with pytest.raises(NotFound):
        office.runs.of_agent("bob", office.agent_id)
    with pytest.raises(NotFound):
        office.runs.start("bob", office.agent_id, QUESTION)
    assert office.runner.carry_out("bob", run.id) is None
    assert office.runs.get("alice", run.id) == run


def test_user_has_a_limit_of_concurrent_runs_and_ended_ones_make_room(office: Office) -> None:
    runs = [office.start() for _ in range(MOST_AT_ONCE)]

    with pytest.raises(LimitReached, match="5 of your runs are not over yet"):
        office.start()
    office.runs.cancel("alice", runs[0].id)
    office.start()
    office.clock.pass_by(LONGEST_WAIT.total_seconds())
    office.start()

    assert len(office.queue.put_in) == MOST_AT_ONCE + 2


def test_run_that_cannot_be_queued_fails_and_its_user_is_told(office: Office) -> None:
    office.queue.is_down = True

    with pytest.raises(StoreUnavailable):
        office.start()

    [run] = office.runs.of_agent("alice", office.agent_id)
    assert (run.state, run.reason) == ("failed", "The question could not be sent. Ask again.")


def test_a_run_is_kept_step_by_step_and_ends_with_an_answer(office: Office) -> None:
    office.bases.pool.put("30 days", filename="leave.pdf", page=4, score=0.9)
    states: list[tuple[str, int]] = []

    def watched(brief: Brief, listener: Listener) -> None:
        searching(brief, listener)
        seen = office.runs.of_agent("alice", office.agent_id)[0]
        states.append((seen.state, len(seen.steps)))

    begun = time.perf_counter()
    run = office.carried_out(watched)
    seconds = time.perf_counter() - begun

    assert states == [("running", 3)]
    [brief] = office.talk.briefs
    assert (brief.model, brief.system_prompt, brief.message) == (
        MODEL,
        "Be brief.",
        QUESTION.message,
    )
    assert [each.name for each in brief.tools] == ["search_plans"]
    first, found, last = run.steps
    assert isinstance(first, ModelStep)
    assert isinstance(found, ToolStep)
    assert isinstance(last, ModelStep)
    assert (first.text, first.input_tokens, first.seconds) == ("I look it up.", 10, 0.5)
    assert (found.query, found.tool_name, found.is_success) == ("leave", "search_plans", True)
    assert found.told == "Found 1 relevant chunks (0 omitted due to size)"
    assert found.seconds < seconds, "a search is a part of its run"
    assert found.notices == ("topK was 99; allowed: 1 to 20; 20 was used",)
    assert [(each.content, each.source["page"]) for each in found.passages] == [("30 days", 4)]
    assert (run.state, run.answer) == (RunState.SUCCEEDED, "By the plans: 30 days")
    assert (run.input_tokens, run.output_tokens, run.tool_calls) == (20, 2, 1)
    assert office.runs.cancel("alice", run.id) == run, "it stays as it ended"


def test_run_is_counted_once_with_all_its_model_and_search_tokens(
    office: Office,
) -> None:
    office.bases.pool.put("30 days", score=0.9)

    office.carried_out(searching)

    [(key, used)] = office.usage.kept.items()
    assert key[1:] == ("alice", NO_CATALOG, MODEL)
    assert used == Used(
        questions=1, question_tokens=2, model_input_tokens=20, model_output_tokens=2
    )


def test_no_model_is_asked_once_the_month_is_spent(office: Office) -> None:
    office.caps.keep("alice", Caps(dollars=Decimal(0)))

    run = office.carried_out(searching)

    assert (run.state, office.talk.briefs) == (RunState.FAILED, [])
    assert "Questions are answered again from 1 March" in str(run.reason)


def test_user_sees_no_internal_details_of_a_failure(office: Office) -> None:
    office.bases.pool.put("30 days", score=0.9)

    wire = office.carried_out(searching, groups=("hr",)).wire()

    assert set(wire) == {
        *(
            "id",
            "agentId",
            "conversationId",
            "message",
            "state",
            "reason",
            "isCancelAsked",
            "steps",
            "answer",
        ),
        *("inputTokens", "outputTokens", "toolCalls", "createdAt", "begunAt", "endedAt"),
    }
    assert wire["steps"][1]["knowledgeBaseName"] == "Plans"


def test_run_of_an_agent_that_was_removed_meanwhile_fails(office: Office) -> None:
    run = office.start()
    office.agents.remove("alice", office.agent_id)

    ended = office.runner.carry_out("alice", run.id)

    assert ended is not None
    assert ended.state is RunState.FAILED
    assert ended.reason == "The agent was deleted before it could answer."


def test_search_that_breaks_fails_its_call_alone_and_shows_no_details(office: Office) -> None:
    def broken() -> None:
        raise RuntimeError("leave of the spymaster")

    def play(brief: Brief, listener: Listener) -> None:
        told = listener.call(brief.tools[0], {"query": "leave"})
        listener.end_turn(turn(told["message"], is_last=True))

    office.bases.on_search = broken
    run = office.carried_out(play)

    assert run.answer == "The search failed; the operator finds the reason in the log."


def test_a_run_that_is_handed_on_twice_is_carried_out_once(office: Office) -> None:
    run = office.start()
    runner = office.runner
    again: list[object] = []

    def play(_: Brief, listener: Listener) -> None:
        again.append(runner.carry_out("alice", run.id))
        listener.end_turn(turn("Thirty.", is_last=True))

    office.talk.play = play
    ended = runner.carry_out("alice", run.id)
    later = runner.carry_out("alice", run.id)

    assert ended is not None
    assert ended.answer == "Thirty."
    assert (again, later, len(office.talk.briefs)) == ([None], None, 1)


class Killed(BaseException):
    """The end of a process: nobody writes anything any more."""


def test_run_whose_runner_died_fails_after_its_time_limit(office: Office) -> None:
    def play(_: Brief, listener: Listener) -> None:
        listener.end_turn(turn("I look it up."))
        raise Killed

    office.talk.play = play
    run = office.start()
    with pytest.raises(Killed):
        office.runner.carry_out("alice", run.id)
    meanwhile = office.runs.get("alice", run.id)
    office.clock.pass_by(MOST_SECONDS + SECONDS_TO_END)

    seen = office.runs.get("alice", run.id)

    assert (meanwhile.state, len(meanwhile.steps)) == ("running", 1)
    assert (seen.state, len(seen.steps)) == ("failed", 1)
    assert seen.reason is not None
    assert "The answer broke off" in seen.reason
    assert seen.ended_at == meanwhile.until
    assert office.runner.carry_out("alice", run.id) is None
    assert office.runs.of_agent("alice", office.agent_id) == [seen]


def test_a_runner_that_comes_back_too_late_changes_nothing(office: Office) -> None:
    def play(_: Brief, listener: Listener) -> None:
        office.clock.pass_by(MOST_SECONDS + SECONDS_TO_END)
        listener.end_turn(turn("Thirty.", is_last=True))

    run = office.carried_out(play)

    kept = office.book.get("alice", run.id)
    assert kept is not None
    assert (kept.state, kept.steps) == ("running", ())
    assert office.runs.get("alice", run.id).state is RunState.FAILED


def test_run_that_nobody_started_fails_after_a_while(office: Office) -> None:
    run = office.start()
    office.clock.pass_by(LONGEST_WAIT.total_seconds())

    assert office.runner.carry_out("alice", run.id) is None

    seen = office.runs.get("alice", run.id)
    assert (seen.state, seen.ended_at) == ("failed", run.created_at + LONGEST_WAIT)
    assert seen.reason == "The question waited for 15 minutes. Ask again."
    assert office.talk.briefs == []


def test_cancelled_run_ends_at_once_keeps_its_text_and_searches_no_more(
    office: Office,
) -> None:
    heard: list[object] = []

    def play(brief: Brief, listener: Listener) -> None:
        heard.append(listener.is_called_off())
        listener.writes("Thirty days, as")
        [run] = office.runs.of_agent("alice", office.agent_id)
        heard.append(office.runs.cancel("alice", run.id).state)
        listener.writes(" nobody hears")
        heard.append(listener.is_called_off())
        listener.end_turn(turn("Thirty days, as nobody hears."))
        heard.append(listener.call(brief.tools[0], {"query": "leave"})["message"])

    run = office.carried_out(play)

    assert heard == [False, RunState.CANCELLED, True, "The run is over; no more is searched."]
    assert (run.state, run.reason, run.tool_calls) == (RunState.CANCELLED, None, 0)
    [step] = run.steps
    assert isinstance(step, ModelStep)
    assert (step.text, step.is_cut, run.answer) == ("Thirty days, as", True, None)
    assert office.bases.pool.filters == []
    assert office.book.drafts == {}


def test_partial_answer_is_kept_when_the_model_fails(office: Office) -> None:
    def play(_: Brief, listener: Listener) -> None:
        listener.end_turn(turn("I look it up."))
        listener.writes("Thirty days")
        listener.writes(", as")
        raise ModelUnavailable("ConverseStream", "500")

    run = office.carried_out(play)

    said = [(each.text, each.is_cut) for each in run.steps if isinstance(each, ModelStep)]
    assert said == [("I look it up.", False), ("Thirty days, as", True)]
    assert (run.state, run.answer) == (RunState.FAILED, None)


def _tokens(_: Brief, listener: Listener) -> None:
    listener.end_turn(turn("I look it up.", tokens=MOST_TOKENS))


def _calls(brief: Brief, listener: Listener) -> None:
    for _ in range(MOST_TOOL_CALLS + 1):
        listener.call(brief.tools[0], {"query": "leave"})


def _turns(_: Brief, listener: Listener) -> None:
    for _number in range(MOST_TURNS):
        listener.end_turn(turn("On it goes."))


@pytest.mark.parametrize(
    ("play", "reason"),
    [
        (_tokens, "It took 250,001 tokens, and a run has 250,000"),
        (_calls, "It searched 20 times"),
        (_turns, "The model took 25 turns"),
    ],
)
def test_run_ends_at_its_limits_of_turns_calls_and_tokens(
    office: Office, play: Play, reason: str
) -> None:
    heard: list[bool] = []

    def heard_of(brief: Brief, listener: Listener) -> None:
        play(brief, listener)
        heard.append(listener.is_called_off())
        listener.end_turn(turn("Nobody hears this.", is_last=True))

    run = office.carried_out(heard_of)

    assert heard == [True]
    assert run.state is RunState.OUT_OF_BUDGET
    assert run.reason == (f"{reason}; an answer may take no more. Ask for less at a time.")
    assert "Nobody hears this." not in run.model_dump_json()
    assert run.tool_calls <= MOST_TOOL_CALLS


def test_run_ends_at_its_time_limit(office: Office) -> None:
    def play(_: Brief, listener: Listener) -> None:
        while not listener.is_called_off():
            time.sleep(0.001)

    office.talk.play = play
    started = office.start()

    run = office.runner.carry_out("alice", started.id, seconds=0.01)

    assert run is not None
    assert run.state is RunState.OUT_OF_BUDGET
    assert run.reason is not None
    assert run.reason.startswith("Its time was over;")
    assert run.begun_at is not None
    assert run.until == run.begun_at + timedelta(seconds=0.01 + SECONDS_TO_END)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ModelThrottled("Converse"), f"The model '{MODEL}' is busy."),
        (ModelUnavailable("Converse", "500"), f"The model '{MODEL}' did not answer."),
        (
            ModelRefused("ValidationException", "The provided model identifier is invalid."),
            f"The model '{MODEL}' did not take the request: The provided model identifier is",
        ),
        (
            ServiceRefused("Converse", "AccessDeniedException"),
            f"The model '{MODEL}' can't be used here (AccessDeniedException). Choose another",
        ),
        (AgentUnfinished("it said nothing"), "The agent has no answer: it said nothing."),
        (StackroomError("secret"), "Something went wrong. Try again;"),
        (RuntimeError("secret"), "Something went wrong. Try again;"),
    ],
)
def test_failure_is_explained_in_a_sentence_with_what_to_do(
    office: Office, caplog: pytest.LogCaptureFixture, *, error: Exception, reason: str
) -> None:
    def play(_: Brief, listener: Listener) -> None:
        listener.end_turn(turn("I look it up."))
        raise error

    run = office.carried_out(play)

    assert run.state is RunState.FAILED
    assert run.reason is not None
    assert run.reason.startswith(reason)
    assert run.reason.endswith(".")
    assert len(run.steps) == 1
    assert "secret" not in run.reason + caplog.text
