"""
A run of a user's agent: a question, and the agent's steps to an answer.

It is not a run of an ingestion (stackroom.runs). The wire names are contracts.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import AwareDatetime, ConfigDict, Field, NonNegativeFloat, NonNegativeInt
from pydantic.alias_generators import to_camel

from stackroom.model.records import Record

# A queue that works hands a run on within seconds. Whoever asked has gone by then, and what is
# answered so late costs money and helps nobody.
LONGEST_WAIT = timedelta(minutes=15)
_NEVER_BEGUN = "The question waited for 15 minutes. Ask again."
_RUNNER_GONE = "The answer broke off. Ask again."


def id_from(moment: datetime) -> str:
    """Return the beginning of the id of a run created at a moment; later ones are greater."""
    return f"run-{int(moment.timestamp() * 1000):011x}"


class RunState(StrEnum):
    ACCEPTED = "accepted"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    OUT_OF_BUDGET = "out_of_budget"


_UNFINISHED = frozenset({RunState.ACCEPTED, RunState.RUNNING})


class _Wire(Record):
    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True)


class ModelStep(_Wire):
    """A model's turn: its text, and the tokens that it took."""

    kind: Literal["model"] = "model"
    text: str
    at: AwareDatetime
    seconds: NonNegativeFloat
    input_tokens: NonNegativeInt
    output_tokens: NonNegativeInt
    is_cut: bool = False


class ShownPassage(_Wire):
    """
    A passage as the model was shown it; `source` is that of `stackroom.search.excerpts`.

    The model cites it by its `number`, which is unique in the run. `gaps` say what of its document
    can't be found.
    """

    rank: int
    number: int | None = None
    content: str
    source: Mapping[str, Any]
    similarity: float
    is_cut: bool = False
    # Left out if empty: during a deployment an earlier console forbids what it doesn't know.
    gaps: tuple[str, ...] = Field(default=(), exclude_if=lambda gaps: not gaps)


class ToolStep(_Wire):
    """
    A search of a knowledge base, and its result.

    `told` is the summary, or why there is none; `tokens` are those of the passages. `not_searched`
    says how many documents were not indexed yet.
    """

    kind: Literal["tool"] = "tool"
    tool_id: str
    tool_name: str
    knowledge_base_name: str
    query: str
    is_success: bool
    told: str
    passages: tuple[ShownPassage, ...] = ()
    notices: tuple[str, ...] = ()
    not_searched: str = Field(default="", exclude_if=lambda text: not text)  # as with `gaps`
    tokens: NonNegativeInt = 0
    is_cached: bool = False
    at: AwareDatetime
    seconds: NonNegativeFloat
    is_cut: bool = False


Step = Annotated[ModelStep | ToolStep, Field(discriminator="kind")]


class Draft(Record):
    """
    A run's unfinished step, after so many recorded ones.

    It has the text that the model has written so far, or the question and the knowledge base of a
    search.
    """

    steps: NonNegativeInt
    text: str = ""
    query: str = ""
    knowledge_base_name: str = ""


class SearchedPart(_Wire):
    """
    The part of a user's documents that a question is about, if not all.

    It names catalogs by their ids, and has a filter as tools that search take it.
    """

    catalog_ids: tuple[str, ...] = ()
    filter: Mapping[str, Any] = Field(default_factory=dict)


class AgentRun(_Wire):
    """
    A question to an agent, its steps and its state.

    `conversation_id` is None if it stands alone. The agent was not told the first `forgotten`
    questions of its conversation. Tools that search all catalogs search only the part `within`, if
    there is one.

    `reason` is a sentence for the user of a run without an answer. While it is carried out, its
    runner has ended it, or is gone, at `until`. `groups` are the user's when they asked. `version`
    counts the writes, as an agent's does.
    """

    id: str
    user_id: str
    groups: tuple[str, ...] = ()
    agent_id: str
    conversation_id: str | None = None
    forgotten: NonNegativeInt = 0
    message: str
    within: SearchedPart | None = Field(default=None, exclude_if=lambda part: part is None)
    state: RunState = RunState.ACCEPTED
    reason: str | None = None
    is_cancel_asked: bool = False
    steps: tuple[Step, ...] = ()
    input_tokens: NonNegativeInt = 0
    output_tokens: NonNegativeInt = 0
    tool_calls: NonNegativeInt = 0
    created_at: AwareDatetime
    begun_at: AwareDatetime | None = None
    until: AwareDatetime | None = None
    ended_at: AwareDatetime | None = None
    version: NonNegativeInt = 0

    @property
    def is_over(self) -> bool:
        return self.state not in _UNFINISHED

    @property
    def answer(self) -> str | None:
        """Return the model's final text, if the run succeeded."""
        if self.state is not RunState.SUCCEEDED:
            return None
        texts = [each.text for each in self.steps if isinstance(each, ModelStep)]
        return texts[-1] if texts else None

    def begun(self, at: datetime, *, until: datetime) -> Self:
        changes = {"state": RunState.RUNNING, "begun_at": at, "until": until}
        return self.model_copy(update=changes)

    def ended(self, state: RunState, at: datetime, *, reason: str | None = None) -> Self:
        return self.model_copy(update={"state": state, "ended_at": at, "reason": reason})

    def seen_at(self, now: datetime) -> Self:
        """Return the run as a reader sees it at a time: it has failed if its runner is gone."""
        if self.state is RunState.ACCEPTED and now >= (late := self.created_at + LONGEST_WAIT):
            return self.ended(RunState.FAILED, late, reason=_NEVER_BEGUN)
        if self.state is RunState.RUNNING and self.until is not None and now >= self.until:
            return self.ended(RunState.FAILED, self.until, reason=_RUNNER_GONE)
        return self

    def wire(self) -> dict[str, Any]:
        """Return the run for its user, without the user's id."""
        ours = {"user_id", "groups", "forgotten", "until", "version"}
        return {**self.model_dump(mode="json", by_alias=True, exclude=ours), "answer": self.answer}
