"""
SQS consumer that runs an agent for a user and records each step as it happens.

The outcome of a run is in its record alone. No text of a run is logged.
"""

import logging
from functools import cache, lru_cache, partial
from typing import Any

from aws_lambda_powertools.logging.utils import copy_config_to_registered_loggers
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel, ConfigDict, ValidationError
from strands.models import Model

from functions.batch import handle_each, response
from functions.telemetry import count_call, logger_for, metrics_for, report_embeddings
from stackroom.access.access_log import AccessWriter
from stackroom.app.function_settings import RetrieveSettings
from stackroom.app.search_builder import SearchBuilder
from stackroom.aws.session import client
from stackroom.errors import MalformedEvent
from stackroom.search.cached_embeddings import CacheTally
from stackroom_agents import observability
from stackroom_agents.batch.event_agent import bedrock_model
from stackroom_agents.strands_conversations import StrandsConversations
from stackroom_agents.user_agents.agent_builder import AgentBuilder
from stackroom_agents.user_agents.agent_run import AgentRun, ModelStep
from stackroom_agents.user_agents.asking import Asking
from stackroom_agents.user_agents.run_bounds import MOST_SECONDS, SECONDS_TO_END
from stackroom_agents.user_agents.runner import Runner
from stackroom_agents.user_agents.shared_settings import SharedSettings
from stackroom_stores.linked_knowledge_bases import linked_retrieval

logger = logger_for("agent_runner")
metrics = metrics_for("agent_runner")
cache_tally = CacheTally()

_OURS = {"stackroom", "stackroom_agents"}
# Milliseconds: a run that started with less could not be ended in time.
NEEDED = round((MOST_SECONDS + SECONDS_TO_END) * 1000)
_MODELS = 8  # cached, because each model needs a boto3 client of its own


class RunnerSettings(RetrieveSettings, SharedSettings):
    """
    The settings of the function `retrieve` and the knowledge bases that the deployment shares.
    """


class RunMessage(BaseModel):
    """A message of the queue, as `stackroom_agents.user_agents.agent_records` writes it."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    user_id: str
    run_id: str


@cache
def settings() -> RunnerSettings:
    return RunnerSettings.from_env()


@lru_cache(_MODELS)
def model_of(model_id: str, is_streaming: bool) -> Model:
    return bedrock_model(model_id, settings().guardrail, streaming=is_streaming)


class RunnerUseCases(SearchBuilder, AgentBuilder):
    """Agents of users, and the search that their tools use."""


@cache
def runner() -> Runner:
    for name in _OURS:
        logging.getLogger(name)  # creates the package's logger, which otherwise doesn't exist yet
    copy_config_to_registered_loggers(logger, include=_OURS)
    observability.silence_library_loggers()
    use_cases = RunnerUseCases(settings=settings(), client=client, cache_tally=cache_tally)
    retrieval = use_cases.retrieval
    return Runner(
        agents=use_cases.agent_book,
        book=use_cases.agent_run_book,
        chats=use_cases.chat_book,
        asking=Asking(
            available=use_cases.available_knowledge_bases,
            retrieval=retrieval,
            shared=linked_retrieval(
                settings().knowledge_bases_config, client, budget=retrieval.budget
            ),
            log=AccessWriter(logger, count=partial(count_call, logger.service)),
        ),
        conversations=StrandsConversations(model_of=model_of),
        meter=use_cases.question_meter,
    )


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Return the failed messages as a partial batch response."""
    _, failed = handle_each(
        event,
        carry_out,
        logger=logger,
        time_left=context.get_remaining_time_in_millis,
        needed=NEEDED,
    )
    report_embeddings(cache_tally, metrics=metrics)
    return response(failed)


def carry_out(body: str) -> None:
    try:
        run_message = RunMessage.model_validate_json(body)
    except ValidationError:
        raise MalformedEvent("the body is not a run message of the console") from None
    with logger.append_context_keys(run_id=run_message.run_id):
        run = runner().carry_out(run_message.user_id, run_message.run_id)
        if run is None:
            logger.info("run not begun")
        else:
            _report(run)


def _report(run: AgentRun) -> None:
    assert run.begun_at is not None, "the run was carried out"
    assert run.ended_at is not None, "the run was carried out"
    seconds = (run.ended_at - run.begun_at).total_seconds()
    tokens = run.input_tokens + run.output_tokens
    logger.info(
        "run carried out",
        state=run.state,
        agent_id=run.agent_id,
        seconds=seconds,
        model_steps=sum(isinstance(each, ModelStep) for each in run.steps),
        tool_calls=run.tool_calls,
        tokens=tokens,
    )
    metrics.add_metric(name="AgentRunSeconds", unit=MetricUnit.Seconds, value=seconds)
    metrics.add_metric(name="AgentRunTokens", unit=MetricUnit.Count, value=tokens)
    metrics.add_metric(name="AgentRunToolCalls", unit=MetricUnit.Count, value=run.tool_calls)
    metrics.add_metric(
        name="AgentRunsFailed", unit=MetricUnit.Count, value=int(run.state == "failed")
    )
