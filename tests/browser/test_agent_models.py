"""
Agents with a model behind an OpenAI-compatible endpoint, and the vectors of questions in a Valkey:
a local mode of its own that is told of both, with the bar for answers that was measured.
"""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import redis
from playwright.sync_api import expect

from stackroom_local.simulator.model_endpoint import BASE_URL, MODEL
from stackroom_local.state import Instance
from tests.browser.builders import (
    answered,
    ask,
    make_agent,
    quick_add,
    stocked,
)
from tests.browser.conftest import SignedIn
from tests.browser.visitors import PATIENCE, Visitor
from tests.local.running import local_mode
from tests.valkey import valkey_server

FILES = {"pump.txt": "The pump of the lock is greased every 200 hours by the keeper."}
QUESTION = "How often is the pump greased?"
Message = dict[str, Any]
Speaks = Callable[[Sequence[Message]], Message]


@dataclass
class ModelServer:
    """`speaks` answers the message that comes next; what it was asked is in `asked`."""

    port: int = 0
    speaks: Speaks = lambda _messages: {"content": "Nothing was asked of me."}
    asked: list[dict[str, Any]] = field(default_factory=list)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    model = ModelServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model.asked.append({"path": self.path, **request})
            message = model.speaks(request["messages"])
            body = json.dumps({"choices": [{"message": {"role": "assistant", **message}}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Tests print no requests."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        model.port = server.server_port
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield model
        server.shutdown()


def uses(tool: str, query: str, *, text: str = "") -> Message:
    """A turn of the model that calls a tool, and may say something before."""
    function = {"name": tool, "arguments": json.dumps({"query": query})}
    call = {"id": "call_0", "type": "function", "function": function}
    return {"content": text, "tool_calls": [call]}


def results(messages: Sequence[Message]) -> list[Message]:
    """What tools have answered in the conversation so far."""
    return [each for each in messages if each["role"] == "tool"]


@pytest.fixture(scope="module")
def valkey() -> Iterator[str]:
    with valkey_server() as server:
        yield f"redis://127.0.0.1:{server.port}"


@pytest.fixture(scope="module")
def instance(
    model: ModelServer, valkey: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Instance]:
    folder = tmp_path_factory.mktemp("local-mode-with-a-model")
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(BASE_URL, model.base_url)
            patch.setenv(MODEL, "a-model-of-the-test")
            up = local_mode(folder / "state", "--context", f"redis_url={valkey}")
            running = stack.enter_context(up)
        yield running


@dataclass(frozen=True)
class Linked:
    """An agent that is linked to the catalog, and whose it is."""

    visitor: Visitor
    path: str


@pytest.fixture
def agent(signed_in: SignedIn, instance: Instance) -> Linked:
    visitor = signed_in("wim")
    stocked(instance, visitor.name, "Lock", FILES)
    path = make_agent(visitor, "Keeper")
    quick_add(visitor, path, "Lock")
    return Linked(visitor=visitor, path=path)


def test_steps_are_shown_while_the_model_speaks_and_a_question_again_has_its_vector_kept(
    agent: Linked, model: ModelServer, valkey: str
) -> None:
    seen = threading.Event()

    def speak(messages: Sequence[Message]) -> Message:
        if not results(messages):
            return uses("search_lock", QUESTION, text="I look it up.")
        assert seen.wait(PATIENCE / 1000), "the page shows the first steps"
        [found] = json.loads(results(messages)[0]["content"])["results"]
        return {"content": f"Every 200 hours [{found['source']['filename']}]."}

    model.speaks = speak
    store = redis.Redis.from_url(valkey)

    run = ask(agent.visitor, agent.path, QUESTION)
    try:
        expect(run.locator(".steps > li")).to_have_count(2)
        expect(run.locator(".state")).to_have_text("running")
        expect(run.locator(".answer")).to_have_count(0)
        run.locator("summary").click()
    finally:
        seen.set()

    expect(answered(run).locator(".answer")).to_have_text("Every 200 hours [pump.txt].")
    expect(run.locator("details")).to_have_attribute("open", "")
    expect(run.locator("summary")).not_to_contain_text("cached")
    asked, _ = model.asked
    assert (asked["path"], asked["model"]) == ("/v1/chat/completions", "a-model-of-the-test")
    assert [each["function"]["name"] for each in asked["tools"]] == ["search_lock"]
    kept = set(store.keys("embedding:*"))
    again = answered(ask(agent.visitor, agent.path, QUESTION))
    expect(again.locator("summary")).to_contain_text("cached")
    assert set(store.keys("embedding:*")) == kept != set()


def test_a_run_that_is_called_off_ends_though_its_model_goes_on(
    agent: Linked, model: ModelServer
) -> None:
    over = threading.Event()

    def speak(_messages: Sequence[Message]) -> Message:
        assert over.wait(PATIENCE / 1000), "the run is over"
        return {"content": "Nobody hears it."}

    model.speaks = speak
    run = ask(agent.visitor, agent.path, QUESTION)
    try:
        expect(run.locator(".state")).to_have_text("running")
        run.get_by_role("button", name="Cancel").click()
        answered(run, "cancelled")
    finally:
        over.set()

    expect(run.get_by_role("button", name="Cancel")).to_have_count(0)
    agent.visitor.page.reload()
    expect(run.locator(".state")).to_have_text("cancelled")
    expect(run.locator(".answer")).to_have_count(0)
