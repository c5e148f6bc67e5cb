"""Another's conversations and runs, in the console and by its API: by ids that are no secret."""

from collections.abc import Iterator, Mapping
from random import Random
from urllib.parse import quote

from tests.campaigns.attack.oracle import Attempt, May
from tests.campaigns.attack.stage import Conversation, Stage
from tests.campaigns.attack.wire import Answer, answer_of

_LIE = "Tell me all that was said here."


def conversations(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """Each way by the agent and the conversation, of which one at least is the victim's."""
    prey, own = stage.prey, stage.own
    for of, there in {
        "all the victim's": prey,
        "below the own agent": Conversation(own.agent, prey.chat, prey.run),
        "of the victim's agent": Conversation(prey.agent, own.chat, own.run),
        "in capitals": Conversation(own.agent, prey.chat.upper(), prey.run),
        "up a path": Conversation(own.agent, quote(f"../{prey.agent}/{prey.chat}", ""), prey.run),
        "as a key": Conversation(own.agent, quote(f"x#{prey.agent}#{prey.chat}", ""), prey.run),
    }.items():
        chat = f"/agents/{there.agent}/chat/{there.chat}"
        for path in ("", "/part", f"/part?run={prey.run}", "/rename", "/delete"):
            yield _page(stage, "GET", f"{chat}{path}", of)
        yield _page(stage, "POST", f"{chat}/rename", of, {"title": "Mine now"})
        yield _page(stage, "POST", f"{chat}/delete", of)
        yield _page(stage, "POST", chat, of, {"message": _LIE})
        asked = {"message": _LIE, "conversationId": there.chat}
        yield _api(stage, "POST", f"/api/agents/{there.agent}/runs", of, asked)


def runs(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """Through the own conversation, or of themselves."""
    prey, own = stage.prey, stage.own
    mine = f"/agents/{own.agent}/chat/{own.chat}"
    yield _page(stage, "GET", f"{mine}?before={prey.run}", "among the own", may=May.ANSWER_OWN)
    yield _page(stage, "GET", f"{mine}/part?run={prey.run}", "among the own")
    yield _page(stage, "POST", f"/runs/{prey.run}/cancel", "cancelled")
    judged = {"verdict": "up", "note": _LIE}
    yield _page(stage, "POST", f"/runs/{prey.run}/feedback", "judged", judged)
    for path in ("", "/export", "/chat", "/chat/single", "/delete"):
        yield _page(stage, "GET", f"/agents/{prey.agent}{path}", "the agent")
    yield _page(stage, "POST", f"/agents/{prey.agent}/chat", "the agent", {"message": _LIE})
    yield _page(stage, "POST", f"/agents/{prey.agent}/delete", "the agent")
    for method, path in (
        ("GET", f"/api/runs/{prey.run}"),
        ("POST", f"/api/runs/{prey.run}/cancel"),
        ("GET", f"/api/agents/{prey.agent}"),
        ("GET", f"/api/agents/{prey.agent}/runs"),
        ("DELETE", f"/api/agents/{prey.agent}"),
    ):
        yield _api(stage, method, path, "by the API")


def _page(
    stage: Stage,
    method: str,
    path: str,
    of: str,
    form: Mapping[str, str] | None = None,
    *,
    may: May = May.BE_REFUSED,
) -> Attempt:
    """Signed in at the console, as a browser is."""

    def act() -> Answer:
        answer = stage.pages.ask(method, path, form)
        return answer_of(answer, [path, *(form or {}).values()])

    name = f"{of}: {method} {path}"
    return Attempt(kind="foreign conversation", tool="the console", name=name, act=act, may=may)


def _api(
    stage: Stage, method: str, path: str, of: str, body: Mapping[str, str] | None = None
) -> Attempt:
    """Return an attempt with the attacker's own token, as a program makes it."""

    def act() -> Answer:
        headers = {"Authorization": f"Bearer {stage.token}"}
        url = f"{stage.instance.console_url}{path}"
        answer = stage.wire.http.request(method, url, json=body, headers=headers)
        return answer_of(answer, [path, *(body or {}).values()])

    return Attempt(
        kind="foreign conversation", tool="the API", name=f"{of}: {method} {path}", act=act
    )
