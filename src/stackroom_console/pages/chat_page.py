"""
Conversations with an agent: what was asked and answered, and what goes on right now.

An answer grows on the page while it is written: the page asks for what is new several times a
second, because an HTTP API can't stream a function's response, and is answered with that alone.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.responses import Response

from stackroom.errors import CatalogNotFound
from stackroom.model.passages import PlaceMapReader
from stackroom.model.records import Catalog
from stackroom_agents.user_agents.agent import Agent
from stackroom_agents.user_agents.agent_run import (
    AgentRun,
    Draft,
    ModelStep,
    RunState,
    SearchedPart,
    ShownPassage,
    Step,
    ToolStep,
)
from stackroom_agents.user_agents.assistant import ASSISTANT
from stackroom_agents.user_agents.chats import LONGEST_TITLE, Chat, NewTitle
from stackroom_agents.user_agents.run_bounds import MOST_MEMORY
from stackroom_agents.user_agents.runs import LONGEST_MESSAGE, NEW, NewRun
from stackroom_console.asked_question import (
    SearchChoice,
    attribute_names,
    choice_in,
    choice_of,
    shown_choice,
)
from stackroom_console.ids import agent_id, chat_id, is_run, run_id
from stackroom_console.messages import N_, gettext, ngettext
from stackroom_console.pages.ask_page import catalogs_of
from stackroom_console.rendering import (
    Watch,
    done,
    polls_without_change,
    redirect,
    render,
    watch,
)
from stackroom_console.request import Request, parse
from stackroom_console.safe_markdown import markdown
from stackroom_console.shown_citations import (
    Citation,
    FoundPassage,
    citations_of,
    claims_by_number,
    source_of,
)

# Of what grows: seconds between two looks. Somebody who reads along sees words 300 ms after the
# model's; a look is one small read, so it takes a few of them before it is worth asking less often.
_SOON = 0.15
_LATER = 1.0
_LOOKS_SOON = 400  # without news: a minute

_MOST_SOURCES = 8  # of an answer that names none
_Key = int | tuple[str, str]  # of a passage in its run
_ENDED = {
    RunState.CANCELLED: N_("You stopped this answer."),
    RunState.FAILED: N_("The answer failed."),
    RunState.OUT_OF_BUDGET: N_("Stopped: the answer reached its limit."),
}


@dataclass(frozen=True, kw_only=True)
class ShownStep:
    """
    A model's text before its answer, or a question to a knowledge base. `found` are passages that
    no earlier step has found, `again` the others.
    """

    text: Markup | None = None
    tool: ToolStep | None = None
    found: tuple[Citation, ...] = ()
    again: tuple[Citation, ...] = ()

    @property
    def outcome(self) -> str:
        assert self.tool is not None, "words have none"
        if not self.tool.is_success:
            return self.tool.told
        number = len(self.found) + len(self.again)
        text = ngettext("%(number)s passage", "%(number)s passages", number)
        return text % {"number": f"{number:,}"}


@dataclass(frozen=True, kw_only=True)
class ShownRun:
    """
    A run as its conversation shows it. While it is under way, `doing` says what happens and
    `growing` is the text so far. `cited` are the passages that the answer names, or all that was
    found if it names none.
    """

    run: AgentRun
    steps: tuple[ShownStep, ...]
    answer: Markup | None
    cited: tuple[Citation, ...]
    doing: str = ""
    growing: Markup | None = None

    @property
    def not_searched(self) -> str:
        """The sentence of its last search about documents that were not searched."""
        sentences = [each.not_searched for each in self.run.steps if isinstance(each, ToolStep)]
        return sentences[-1] if sentences else ""

    @property
    def ended(self) -> str:
        return gettext(_ENDED[self.run.state]) if self.run.state in _ENDED else ""

    @property
    def figures(self) -> str:
        """The run's time, searches and tokens."""
        run = self.run
        parts = []
        if run.begun_at is not None and run.ended_at is not None:
            seconds = (run.ended_at - run.begun_at).total_seconds()
            parts.append(gettext("%(seconds)s s") % {"seconds": f"{seconds:.1f}"})
        if number := run.tool_calls:
            searches = ngettext("%(number)s search", "%(number)s searches", number)
            parts.append(searches % {"number": number})
        if number := run.input_tokens + run.output_tokens:
            tokens = ngettext("%(number)s token", "%(number)s tokens", number)
            parts.append(tokens % {"number": f"{number:,}"})
        return " · ".join(parts)


def blank(request: Request) -> Response:
    """Return the page on which somebody asks the first question of a conversation."""
    return blank_of(request, agent_id(request))


def blank_of(request: Request, chosen: str) -> Response:
    return _page(request, None, [], agent=request.services.agents.get(request.user_id, chosen))


def page(request: Request) -> Response:
    chat = _chat(request)
    before = request.query.get("before", "")
    runs = request.services.chats.runs_of(chat, before=before if is_run(before) else None)
    return _page(request, chat, runs, is_newest=not is_run(before))


def single(request: Request) -> Response:
    """Return the page of questions outside conversations, which programs ask."""
    agent = request.services.agents.get(request.user_id, agent_id(request))
    runs = request.services.agent_runs.of_agent(request.user_id, agent.id, are_alone=True)
    return _page(request, None, runs[::-1], are_alone=True)


def part(request: Request) -> Response:
    """Return the new part of a conversation's page."""
    chat = _chat(request)
    if is_run(under_way := request.query.get("run", "")):
        run, draft = request.services.agent_runs.watched(request.user_id, under_way)
        if not run.is_over:
            return _growing(request, run, draft)
    runs = request.services.chats.runs_of(chat)
    watching = _watch(request, chat, runs)
    return render(
        request,
        "parts/chat_watched.html",
        shown=_all_shown(request, runs) if watching.is_changed else (),
        earlier=_earlier(chat, runs),
        remembered=_remembered(chat, runs),
        watch=watching,
    )


def begin(request: Request) -> Response:
    run = put(request, NEW, agent_id(request))
    return redirect(request, address_of(run, choice_of(request.form)))


def ask(request: Request) -> Response:
    run = put(request, chat_id(request), agent_id(request))
    address = address_of(run, choice_of(request.form))
    if not request.is_htmx:
        return redirect(request, f"{address}#newest")
    response = begun(request, run)
    response.headers["HX-Replace-Url"] = address
    return response


def begun(request: Request, run: AgentRun) -> Response:
    """Return the part of a conversation's page that the next question adds."""
    [shown] = _all_shown(request, [run])
    return render(request, "parts/chat_asked.html", each=shown, watch=_soon(run, None, quiet=0))


def cancel(request: Request) -> Response:
    run = request.services.agent_runs.cancel(request.user_id, run_id(request))
    return done(request, place_of(run))


def renaming(request: Request) -> Response:
    return render(request, "chat_rename.html", chat=_chat(request), longest=LONGEST_TITLE)


def rename(request: Request) -> Response:
    given = {"title": request.form.get("title", "")}
    wanted = parse(NewTitle, given, called={"title": N_("Title")})
    chats = request.services.chats
    chat = chats.rename(request.user_id, agent_id(request), chat_id(request), wanted)
    return redirect(request, f"/agents/{chat.agent_id}/chat/{chat.id}")


def removal(request: Request) -> Response:
    return render(request, "chat_delete.html", chat=_chat(request))


def remove(request: Request) -> Response:
    chosen = agent_id(request)
    request.services.chats.remove(request.user_id, chosen, chat_id(request))
    return redirect(request, f"/agents/{chosen}/chat")


def place_of(run: AgentRun) -> str:
    """The address of the page that shows it."""
    return f"/agents/{run.agent_id}/chat/{run.conversation_id or 'single'}"


def address_of(run: AgentRun, choice: SearchChoice) -> str:
    """The same, with what was chosen to be searched."""
    chosen = urlencode(choice.settings)
    return f"{place_of(run)}?{chosen}" if chosen else place_of(run)


def part_of(request: Request, choice: SearchChoice) -> SearchedPart | None:
    """
    Return the part that a choice searches, or None for all. Raises ValidationError or
    CatalogNotFound.
    """
    if not choice.settings:
        return None
    mine = catalogs_of(request)
    if unknown := [each for each in choice.catalog_ids if each not in mine]:
        raise CatalogNotFound(unknown[0])
    return SearchedPart(catalog_ids=choice.catalog_ids, filter=choice.filter(mine.values()))


def _page(
    request: Request,
    chat: Chat | None,
    runs: list[AgentRun],
    *,
    agent: Agent | None = None,
    is_newest: bool = True,
    are_alone: bool = False,
) -> Response:
    if agent is None:
        agent = request.services.agents.get(request.user_id, agent_id(request))
    is_assistant = agent.id == ASSISTANT
    mine = tuple(catalogs_of(request).values()) if is_assistant else ()
    choice, last = shown_choice(request.query), runs[-1].within if runs else None
    if not choice.settings and last is not None:
        choice = choice_in(last)
    return render(
        request,
        "chat.html",
        agent=agent,
        at="/chat" if is_assistant else f"/agents/{agent.id}/chat",
        to=f"/agents/{agent.id}/chat",
        is_assistant=is_assistant,
        catalogs=mine,
        choice=choice,
        names=attribute_names(mine),
        chat=chat,
        chats=request.services.chats.of_agent(request.user_id, agent.id),
        are_alone=are_alone,
        shown=_all_shown(request, runs),
        earlier=_earlier(chat, runs),
        remembered=_remembered(chat, runs) if is_newest else None,
        watch=_watch(request, chat, runs) if chat is not None and is_newest else None,
        is_newest=is_newest,
        most_memory=MOST_MEMORY,
        longest=LONGEST_MESSAGE,
    )


def _chat(request: Request) -> Chat:
    """Raises NotFound."""
    return request.services.chats.get(request.user_id, agent_id(request), chat_id(request))


def conversation(request: Request, chat: Chat | None) -> dict[str, Any]:
    """The end of one, for the parts of templates that show it; of None one that isn't begun."""
    runs = [] if chat is None else request.services.chats.runs_of(chat)
    return {
        "shown": _all_shown(request, runs),
        "earlier": None,
        "remembered": _remembered(chat, runs),
        "watch": None if chat is None else _watch(request, chat, runs),
        "longest": LONGEST_MESSAGE,
    }


def put(request: Request, conversation: str, asked: str, *, is_test: bool = False) -> AgentRun:
    """A question to that agent; raises as `Runs.start` and `part_of` do."""
    given = {"message": request.form.get("message", ""), "conversationId": conversation}
    wanted = parse(NewRun, given, called={"message": N_("Question")})
    return request.services.agent_runs.start(
        request.user_id,
        asked,
        wanted,
        groups=request.caller.groups,
        within=part_of(request, choice_of(request.form)) if asked == ASSISTANT else None,
        is_test=is_test,
    )


def _earlier(chat: Chat | None, runs: Sequence[AgentRun]) -> str | None:
    """The run before which there are more than the page shows."""
    if chat is None or not runs or runs[0].id == chat.run_ids[0]:
        return None
    return runs[0].id


def _remembered(chat: Chat | None, runs: Sequence[AgentRun]) -> str | None:
    """The first run that the agent was told of with the last question, if not of all."""
    forgotten = runs[-1].forgotten if chat is not None and runs else 0
    return chat.run_ids[forgotten] if chat is not None and forgotten else None


# What changes by itself.


def _watch(request: Request, chat: Chat, runs: Sequence[AgentRun]) -> Watch:
    """
    Return when to poll next: soon while an answer is written, else for what another window asks.
    """
    if runs and not runs[-1].is_over:
        return _soon(runs[-1], None, quiet=0)
    shown = [(each.id, each.version, each.state) for each in runs]
    path = f"/agents/{chat.agent_id}/chat/{chat.id}/part"
    return watch(request, path, shown, is_under_way=False)


def _soon(run: AgentRun, draft: Draft | None, *, quiet: int) -> Watch:
    parameters = {"run": run.id, "steps": run.version, "grown": _mark(run, draft), "quiet": quiet}
    return Watch(
        path=f"{place_of(run)}/part?{urlencode(parameters)}",
        seconds=_SOON if quiet < _LOOKS_SOON else _LATER,
        is_changed=True,
    )


def _growing(request: Request, run: AgentRun, draft: Draft | None) -> Response:
    has_step = request.query.get("steps") != str(run.version)
    has_grown = request.query.get("grown") != _mark(run, draft)
    quiet = polls_without_change(request)
    [shown] = _all_shown(request, [run], draft)
    return render(
        request,
        "parts/chat_growing.html",
        each=shown,
        has_step=has_step,
        has_grown=has_grown,
        watch=_soon(run, draft, quiet=0 if has_step or has_grown else quiet + 1),
    )


def _mark(run: AgentRun, draft: Draft | None) -> str:
    """Return a mark of the run's progress, which changes with every step; a text only grows."""
    if draft is None:
        return run.state
    return f"{draft.steps}-{len(draft.text)}-{len(draft.query)}"


# A run as the page shows it.


def _all_shown(
    request: Request, runs: Sequence[AgentRun], draft: Draft | None = None
) -> list[ShownRun]:
    """The draft is that of the last one; without it, it is looked for."""
    catalogs = catalogs_of(request) if any(each.tool_calls for each in runs) else {}
    place_maps = request.services.retrieval.place_maps
    if draft is None and runs and not runs[-1].is_over:
        _, draft = request.services.agent_runs.watched(request.user_id, runs[-1].id)
    return [
        _shown(each, catalogs, place_maps, draft if each is runs[-1] else None) for each in runs
    ]


def _doing(run: AgentRun, draft: Draft | None) -> str:
    if run.state is RunState.ACCEPTED:
        return gettext("Queued…")
    if draft is not None and draft.knowledge_base_name:
        fields = {"name": draft.knowledge_base_name, "query": draft.query}
        return gettext("Searching %(name)s for “%(query)s”…") % fields
    return gettext("Writing…") if draft is not None and draft.text else gettext("Thinking…")


def _shown(
    run: AgentRun,
    catalogs: Mapping[str, Catalog],
    place_maps: PlaceMapReader,
    draft: Draft | None,
) -> ShownRun:
    found = _found(run, catalogs, place_maps)
    anchors = {each.number: each.anchor for each in found.values()}
    steps = list(run.steps)
    last = steps[-1] if steps else None
    answer = growing = None
    if run.is_over and isinstance(last, ModelStep):
        steps.pop()
        answer = markdown(last.text, cited=anchors)
    if draft is not None and draft.text:
        growing = markdown(draft.text, cited=anchors)
    named = tuple(x for x in found.values() if answer and f'href="#{x.anchor}"' in answer)
    return ShownRun(
        run=run,
        steps=tuple(_steps(steps, found)),
        answer=answer,
        cited=named or tuple(found.values())[:_MOST_SOURCES],
        doing="" if run.is_over else _doing(run, draft),
        growing=growing,
    )


def _steps(steps: Sequence[Step], found: Mapping[_Key, Citation]) -> Iterator[ShownStep]:
    seen: set[_Key] = set()
    for step in steps:
        if isinstance(step, ModelStep):
            if step.text.strip():
                yield ShownStep(text=markdown(step.text))
            continue
        keys = dict.fromkeys(map(_key, step.passages))
        yield ShownStep(
            tool=step,
            found=tuple(found[each] for each in keys if each not in seen),
            again=tuple(found[each] for each in keys if each in seen),
        )
        seen.update(keys)


def _found(
    run: AgentRun, catalogs: Mapping[str, Catalog], place_maps: PlaceMapReader
) -> dict[_Key, Citation]:
    """Return each passage once, by the number that the model knows it by."""
    passages: dict[_Key, ShownPassage] = {}
    for step in run.steps:
        if isinstance(step, ToolStep):
            for each in step.passages:
                passages.setdefault(_key(each), each)
    claims = claims_by_number(run.answer or "")
    found = [
        FoundPassage(
            sources=(source_of(each.source),),
            text=each.content,
            score=each.similarity,
            claim=claims.get(each.number or 0, ""),
            gaps=each.gaps,
        )
        for each in passages.values()
    ]
    anchors = f"{run.id}-source"
    made = citations_of(run.message, found, catalogs, place_maps, anchors=anchors)
    return {
        key: replace(each, number=number, anchor=f"{anchors}-{number}")
        for (key, passage), each in zip(passages.items(), made, strict=True)
        for number in [passage.number or each.number]
    }


def _key(passage: ShownPassage) -> _Key:
    return passage.number or (passage.content, json.dumps(dict(passage.source), sort_keys=True))
