"""A run while it is written, and conversations: remembered, one user's alone, and removed whole."""

import pytest

from stackroom.errors import (
    Conflict,
    NotFound,
)
from stackroom_agents.user_agents import chats
from stackroom_agents.user_agents.agent_repositories import Brief, Listener
from stackroom_agents.user_agents.agent_run import AgentRun
from stackroom_agents.user_agents.chats import NewTitle, title_of
from stackroom_agents.user_agents.run_bounds import MOST_MEMORY
from stackroom_agents.user_agents.runs import NEW, NewRun
from tests.support.linked_tools import Office, Play, turn

# While it is written.


def test_changes_of_a_run_are_listed_as_they_happen_and_once(office: Office) -> None:
    office.bases.pool.put("30 days", score=0.9)
    seen: list[tuple[str, str, str, int]] = []

    def observe() -> None:
        [run] = office.runs.of_agent("alice", office.agent_id)
        run, draft = office.runs.watched("alice", run.id)
        told = (draft.text, draft.query, draft.knowledge_base_name) if draft else ("", "", "")
        seen.append((*told, len(run.steps)))

    def play(brief: Brief, listener: Listener) -> None:
        observe()
        listener.writes("I look")
        observe()
        listener.end_turn(turn("I look it up."))
        observe()
        office.bases.on_search = observe
        listener.call(brief.tools[0], {"query": "leave"})
        observe()
        listener.end_turn(turn("Thirty.", is_last=True))

    run = office.carried_out(play)

    assert seen == [
        ("", "", "", 0),
        ("I look", "", "", 0),
        ("", "", "", 1),
        ("", "leave", "Plans", 1),
        ("", "", "", 2),
    ]
    assert office.runs.watched("alice", run.id) == (run, None)
    assert office.book.drafts == {}


# Conversations.


def play_answer(text: str) -> Play:
    return lambda _, listener: listener.end_turn(turn(text, is_last=True))


def ask(office: Office, message: str, answer: str, *, chat: str | None = NEW) -> AgentRun:
    """Asked, and answered so."""
    office.talk.play = play_answer(answer)
    wanted = NewRun(message=message, conversation_id=chat)
    run = office.runs.start("alice", office.agent_id, wanted)
    office.clock.pass_by(1)
    ended = office.runner.carry_out("alice", run.id)
    assert ended is not None
    return ended


def test_a_conversation_is_remembered_and_a_question_alone_is_not(office: Office) -> None:
    first = ask(office, "How many days?", "Thirty [1], or so [2, 3].")
    ask(office, "And for Bob?", "Twenty.", chat=first.conversation_id)
    ask(office, "And mine?", "Thirty.", chat=first.conversation_id)
    ask(office, "And alone?", "Nothing.", chat=None)

    told = [[(x.question, x.answer) for x in brief.before] for brief in office.talk.briefs]
    assert told == [
        [],
        [("How many days?", "Thirty, or so.")],
        [("How many days?", "Thirty, or so."), ("And for Bob?", "Twenty.")],
        [],
    ]
    [chat] = office.chats.of_agent("alice", office.agent_id)
    assert (chat.title, len(chat.run_ids)) == ("How many days?", 3)
    assert [each.message for each in office.chats.runs_of(chat)] == [
        *("How many days?", "And for Bob?", "And mine?")
    ]
    alone = office.runs.of_agent("alice", office.agent_id, are_alone=True)
    assert [each.message for each in alone] == ["And alone?"]


def test_the_oldest_turns_leave_where_there_is_no_room_and_the_run_says_so(office: Office) -> None:
    long = "x" * (MOST_MEMORY * 4 // 2)
    chat = ask(office, "First?", long).conversation_id
    ask(office, "Second?", long, chat=chat)
    ask(office, "Third?", "Short.", chat=chat)

    run = ask(office, "Fourth?", "Yes.", chat=chat)

    assert [each.question for each in office.talk.briefs[-1].before] == ["Second?", "Third?"]
    assert run.forgotten == 1


def test_full_conversation_takes_no_more_questions(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chats, "MOST_QUESTIONS", 1)
    chat = ask(office, "First?", "Yes.").conversation_id

    with pytest.raises(Conflict, match="has 1 questions, and takes no more"):
        ask(office, "Second?", "Yes.", chat=chat)


def test_one_question_at_a_time_is_asked_in_a_conversation(office: Office) -> None:
    run = office.runs.start("alice", office.agent_id, NewRun(message="First?", conversation_id=NEW))
    next_one = NewRun(message="Second?", conversation_id=run.conversation_id)

    with pytest.raises(Conflict):
        office.runs.start("alice", office.agent_id, next_one)

    assert [each.message for each in office.book.newest("alice")] == ["First?"]
    office.runs.cancel("alice", run.id)
    office.runs.start("alice", office.agent_id, next_one)


def test_nobody_else_finds_a_conversation_nor_another_agent(office: Office) -> None:
    chat = ask(office, "How many days?", "Thirty.").conversation_id
    assert chat is not None
    other = office.agent()
    told = NewTitle(title="Mine")

    for user, agent, error in (
        ("bob", office.agent_id, NotFound),
        ("alice", other, NotFound),
    ):
        for call in (office.chats.get, office.chats.remove):
            with pytest.raises(error):
                call(user, agent, chat)
        with pytest.raises(error):
            office.chats.rename(user, agent, chat, told)
    with pytest.raises(NotFound):
        office.runs.start("alice", other, NewRun(message="Mine?", conversation_id=chat))
    assert office.chats.of_agent("alice", other) == []
    assert len(list(office.book.newest("alice"))) == 1, "the refused one has left nothing"


def test_conversation_is_renamed_and_removed_with_its_runs(office: Office) -> None:
    chat = ask(office, "How many days?", "Thirty.").conversation_id
    ask(office, "Alone?", "Yes.", chat=None)
    assert chat is not None

    renamed = office.chats.rename("alice", office.agent_id, chat, NewTitle(title=" Leave "))
    office.chats.remove("alice", office.agent_id, chat)

    assert renamed.title == "Leave"
    assert office.chats.of_agent("alice", office.agent_id) == []
    assert [each.message for each in office.book.newest("alice")] == ["Alone?"]


def test_a_run_whose_conversation_is_removed_ends_and_leaves_nothing(office: Office) -> None:
    heard: list[bool] = []

    def play(_: Brief, listener: Listener) -> None:
        listener.writes("Thir")
        [chat] = office.chats.of_agent("alice", office.agent_id)
        office.chats.remove("alice", office.agent_id, chat.id)
        heard.append(listener.is_called_off())
        listener.writes("ty")
        listener.end_turn(turn("Thirty.", is_last=True))

    office.talk.play = play
    run = office.runs.start("alice", office.agent_id, NewRun(message="Days?", conversation_id=NEW))
    office.runner.carry_out("alice", run.id)

    assert heard == [True]
    assert (office.book.kept, office.book.drafts, office.chats_book.kept) == ({}, {}, {})


@pytest.mark.parametrize(
    ("message", "title"),
    [
        ("How many\n  days?", "How many days?"),
        ("word " * 30, ("word " * 12).strip() + "…"),
        ("x" * 99, "x" * 60 + "…"),
        ("Days\u202e\u0000?", "Days ?"),
    ],
)
def test_a_title_is_how_the_first_question_begins(message: str, title: str) -> None:
    assert title_of(message) == title


def test_a_test_is_in_no_list_and_found_as_the_last_one(office: Office) -> None:
    chats, asked = office.chats, NewRun(message="Does it answer?", conversation_id=NEW)
    assert chats.test_of("alice", office.agent_id) is None

    test = office.runs.start("alice", office.agent_id, asked, is_test=True)
    office.clock.pass_by(1)
    chat = office.runs.start("alice", office.agent_id, asked)

    found = chats.test_of("alice", office.agent_id)
    assert found is not None
    assert found.run_ids == (test.id,)
    listed = chats.of_agent("alice", office.agent_id)
    assert [each.run_ids for each in listed] == [(chat.id,)]
