"""Chat at once: the assistant that every user has, and answers of the page Ask that go on in it."""

import re
from html import unescape

import pytest

from stackroom.access.identity import Caller
from stackroom.clock import NO_DEADLINE
from stackroom.search.linked_retrieval import LinkedRetrieval
from stackroom_agents.user_agents.agent_run import ModelStep, RunState, SearchedPart, ToolStep
from stackroom_agents.user_agents.asking import Asking
from stackroom_agents.user_agents.assistant import ASSISTANT, SEARCH_ALL
from stackroom_console.console import Console
from tests.console.browser import Browser, read
from tests.console.things import LEAVE, QUESTION, dropped, indexed, new_catalog, stored
from tests.functions.pipeline import Pipeline


def test_a_user_chats_with_the_assistant_without_making_an_agent(
    alice: Browser, bob: Browser, console: Console, catalog: str
) -> None:
    before = stored()
    blank = alice.get("/chat").text
    kept_by_looking = stored() != before
    begun = alice.post("/chat", message="How long is leave?")
    path = str(begun.headers["location"])

    assert not kept_by_looking
    assert "Chat with your documents" in read(blank)
    assert re.fullmatch(rf"/agents/{ASSISTANT}/chat/chat-[0-9a-f]{{27}}", path)
    page = alice.get(path).text
    assert '<a href="/chat" aria-current="page">Chat</a>' in page
    agent = console.services.agent_book.get("alice", ASSISTANT)
    assert agent is not None, "a runner finds it"
    assert [each.config.knowledge_base_id for each in agent.linked_tools] == ["all"]
    assert f'href="{path}#newest"' in alice.get("/chat").text
    assert bob.get(path).status_code == 404


@pytest.mark.slow
def test_the_assistant_searches_what_was_chosen_and_the_address_keeps_it(
    alice: Browser, pipeline: Pipeline, console: Console, catalog: str
) -> None:
    other = new_catalog(alice, "Old handbook")
    indexed(pipeline, "alice", other, "old.txt", "Annual leave was ten days for everyone.")
    dropped(pipeline, "alice", other, "new.txt")

    chosen = {"file": "old.txt; leave.txt", other: "on"}
    dated = {"where": "uploaded_at >= 2020-01-01; folder = plans", **chosen}
    alice.post("/chat", message="And when?", **dated)
    begun = alice.post("/chat", message=QUESTION, **chosen)
    unknown = alice.post("/chat", message=QUESTION, catalog="cat-" + "0" * 24)

    path = str(begun.headers["location"])
    assert path.endswith(f"?catalog={other}&file=old.txt%3B+leave.txt")
    for address in (path, path.partition("?")[0]):
        form = alice.get(address).text
        assert f'name="{other}" checked>' in form
        assert 'value="old.txt; leave.txt"' in form
    assert unknown.status_code == 404
    run, with_dates = console.services.agent_runs.of_agent("alice", ASSISTANT)
    page = alice.get(f"/agents/{ASSISTANT}/chat/{with_dates.conversation_id}").text
    assert 'value="uploaded_at &gt;= 2020-01-01; folder = plans"' in page
    assert run.within == SearchedPart(
        catalog_ids=(other,), filter={"filename": ["old.txt", "leave.txt"]}
    )
    services = console.services
    asking = Asking(
        available=services.available_knowledge_bases,
        retrieval=services.retrieval,
        shared=LinkedRetrieval(linked=()),
        log=lambda _: None,
    )
    for within, files in ((run.within, {"old.txt"}), (None, {"old.txt", "leave.txt"})):
        answer = asking.answer(
            SEARCH_ALL, {"query": QUESTION}, Caller("alice"), within=within, deadline=NO_DEADLINE
        )
        assert {each["source"]["filename"] for each in answer["results"]} == files
        number = 2 if within else 3
        told = (
            f"1 of {number} documents is still being indexed; what is new in them was not searched."
        )
        assert answer["metadata"]["notSearched"] == told


def test_answer_of_ask_continues_as_a_conversation_with_its_sources(
    alice: Browser, console: Console, catalog: str
) -> None:
    page = alice.ask(QUESTION, catalog=catalog).text
    form = page.partition('action="/chat/continue"')[2].partition("</form>")[0]
    found = re.findall('type="hidden" name="([^"]*)" value="([^"]*)"', form)
    fields = {name: unescape(value) for name, value in found if name != "csrf_token"}

    resumed = alice.post("/chat/continue", **fields)
    forged = alice.post("/chat/continue", **{**fields, "cited": "x", "said": "<b>Ten</b> [1]"})

    path = str(resumed.headers["location"])
    assert path.endswith(f"?catalog={catalog}#newest")
    [run] = [
        each
        for each in console.services.agent_runs.of_agent("alice", ASSISTANT)
        if "Ten" not in (each.answer or "")
    ]
    searched, said = run.steps
    assert isinstance(searched, ToolStep)
    assert isinstance(said, ModelStep)
    assert (run.message, run.state) == (QUESTION, RunState.SUCCEEDED)
    assert [each.content for each in searched.passages] == [LEAVE]
    shown = alice.get(path.partition("#")[0]).text
    assert f'href="#{run.id}-source-1"' in shown
    assert "thirty days for everyone" in read(shown)
    assert "<b>Ten" not in alice.get(str(forged.headers["location"]).partition("#")[0]).text
