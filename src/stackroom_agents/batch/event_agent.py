"""Builds a batch agent from the environment; it makes no call until the first event."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from strands.models import Model
from strands.models.bedrock import BedrockModel

from stackroom.aws.bedrock.guardrail import Guardrail
from stackroom.aws.s3.foreign_objects import S3Objects, SqsAnswers
from stackroom.aws.session import of_agents
from stackroom.errors import ObjectRefused
from stackroom_agents import registry
from stackroom_agents.agent_errors import AgentMisconfigured
from stackroom_agents.batch.agent_events import Messages, Objects, task_of
from stackroom_agents.batch.definition_settings import BatchSettings, DefinitionSettings
from stackroom_agents.batch.event_conversation import EventConversation, Json
from stackroom_agents.batch.queue import Queue
from stackroom_agents.batch.run_limits import RunDeadline
from stackroom_agents.batch.toolbox import load_tools
from stackroom_agents.thread_safe_clients import client_of

_MAX_PROMPT = 1024**2  # bytes; what is larger is no prompt
_Settings = TypeVar("_Settings", bound=DefinitionSettings)


@dataclass(frozen=True, kw_only=True)
class EventAgent:
    settings: BatchSettings
    turns: EventConversation

    def answer(self, event: object, deadline: RunDeadline) -> str | Json:
        """Answer an event, as `EventConversation.answer` does. Raises MalformedEvent, too."""
        of_event = self.settings.identity_from_event
        return self.turns.answer(task_of(event, identity_from_event=of_event), deadline)

    def queue(self, deadline: RunDeadline) -> Queue:
        url = self.settings.answers_queue_url
        return Queue(
            answer=lambda event: self.answer(event, deadline),
            answers=SqsAnswers(client=client_of("sqs"), url=url) if url else None,
        )


def batch_agent(
    environ: Mapping[str, str], *, model_of: Callable[[str], Model] | None = None
) -> EventAgent:
    """
    Return the agent, with the prompt and the tools read from S3. `model_of` makes a model from its
    id.

    Raises AgentMisconfigured for an invalid variable, and for a prompt or a tool that can't be
    loaded; StoreUnavailable.
    """
    made = defined(BatchSettings, environ)
    settings = made.settings
    turns = EventConversation(
        model=(model_of or bedrock_model)(settings.model_id),
        system_prompt=made.system_prompt,
        tools=made.tools,
        messages=Messages(
            objects=made.objects, prompt=settings.prompt, invoke_type=settings.invoke_type
        ),
        expect_json=settings.expect_json,
    )
    return EventAgent(settings=settings, turns=turns)


@dataclass(frozen=True, kw_only=True)
class Defined(Generic[_Settings]):
    """A loaded definition of an agent."""

    settings: _Settings
    system_prompt: str
    tools: Sequence[Any]
    objects: S3Objects


def defined(kind: type[_Settings], environ: Mapping[str, str]) -> Defined[_Settings]:
    """Load a definition. Raises the errors of `batch_agent`."""
    try:
        settings = kind.from_env(environ)
        known = registry.of_settings(settings)
    except ValueError as error:  # which names variables, entries and fields, and no values
        raise AgentMisconfigured("the function's environment", str(error)) from None
    objects = S3Objects(client=client_of("s3"))
    tools = load_tools(settings.tools_config, objects)
    ours = known.tools()
    _require_distinct(tools, ours)
    return Defined(
        settings=settings,
        system_prompt=_filled(known.prompted(_prompt(settings, objects)), settings),
        tools=[*tools, *ours],
        objects=objects,
    )


def bedrock_model(
    model_id: str, guardrail: Guardrail | None = None, *, streaming: bool = False
) -> Model:
    """Return a model, by default without streaming, since an event needs its answer as a whole."""
    guarded: dict[str, Any] = {}
    if guardrail is not None:
        guarded = {"guardrail_id": guardrail.id, "guardrail_version": guardrail.version}
    return BedrockModel(**of_agents(), model_id=model_id, streaming=streaming, **guarded)


def _prompt(settings: DefinitionSettings, objects: Objects) -> bytes:
    bucket, key = settings.system_prompt_s3_bucket_name, settings.system_prompt_s3_key
    try:
        return objects.read(bucket, key, limit=_MAX_PROMPT)
    except ObjectRefused as error:
        raise AgentMisconfigured(f"the system prompt {key!r}", error.reason) from error


def _filled(prompt: str, settings: DefinitionSettings) -> str:
    """
    Return a prompt that isn't blank, as Converse requires [NonEmptyString in bedrock-runtime's API
    model].
    """
    if not prompt.strip():
        problem = "it contains no text"
        raise AgentMisconfigured(f"the system prompt {settings.system_prompt_s3_key!r}", problem)
    return prompt


def _require_distinct(tools: Sequence[Any], ours: Sequence[Any]) -> None:
    taken = {_alike(each): "Stackroom's own is called that" for each in ours}
    for each in tools:
        if reason := taken.get(_alike(each)):
            problem = f"{reason}; give the other another name"
            raise AgentMisconfigured(f"tool {each.tool_name!r}", problem)
        taken[_alike(each)] = f"there is {each.tool_name!r}, too, which counts as the same"


def _alike(tool: Any) -> str:
    """
    Return a form of the name. Strands refuses an agent if two names differ by `-` and `_` alone.
    """
    return str(tool.tool_name).replace("-", "_")
