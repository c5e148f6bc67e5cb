"""
The function of a batch agent: it takes an event and returns the agent's answer.

    {"contentType": "data", "content": {"data": "..."}}  ->  {"success": true, "result": ...}

`stackroom_agents.batch.agent_events` describes its events, and `batch.definition_settings` its
variables. Errors that the sender can change are answered with `{"success": false, "result": null,
"error", "errorType"}`, where the type is a name under `Rejected` in stackroom.errors. Temporary
errors are raised, so that Lambda tries an asynchronous event again, and Step Functions can `Retry`
by the names ModelThrottled and ModelUnavailable (of the model) and StoreUnavailable (of S3).
ServiceRefused, AgentMisconfigured and AgentBroke, which an operator must repair, are raised, too.

A caller checks `success`. An asynchronous invocation has nobody who does: use a queue there.

Messages from SQS are answered by `batchItemFailures` (`stackroom_agents.batch.queue`).
"""

import logging
import os
import time
from collections.abc import Mapping
from functools import cache
from threading import Lock
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.logging.utils import copy_config_to_registered_loggers
from aws_lambda_powertools.utilities.typing import LambdaContext

from stackroom.errors import Rejected, StackroomError
from stackroom_agents import observability
from stackroom_agents.agent_errors import AgentBroke
from stackroom_agents.batch import queue
from stackroom_agents.batch.event_agent import EventAgent, batch_agent
from stackroom_agents.batch.queue import records_of
from stackroom_agents.batch.run_limits import RunDeadline

logger = Logger()
_OURS = {"stackroom", "stackroom_agents"}
_SUCCESS = "success"
_lock = Lock()


def agent() -> EventAgent:
    """Return this process's agent, which is built once even if several events need it at once."""
    with _lock:
        return _agent()


@cache
def _agent() -> EventAgent:
    # What our own modules log by Python's logging goes out as JSON, with its fields.
    for name in _OURS:
        logging.getLogger(name)  # there is none of a package before somebody asks
    copy_config_to_registered_loggers(logger, include=_OURS)
    made = batch_agent(os.environ)
    if not made.settings.enable_observability:
        observability.silence_library_loggers()
    return made


@logger.inject_lambda_context(clear_state=True, log_event=False)
def handler(event: Any, context: LambdaContext) -> Mapping[str, object]:
    started = time.perf_counter()
    try:
        reply = _reply(event, RunDeadline.of(context))
    except StackroomError as error:
        _tell(type(error).__name__, started)
        raise error from None  # a cause's words may be the user's
    except Exception as error:
        observability.tell_breakage(logging.getLogger(__name__), "the agent broke", error)
        raise AgentBroke(type(error).__name__) from None
    _tell(_outcome(reply), started)
    return reply


def _outcome(reply: Mapping[str, object]) -> str:
    """Return the outcome for the log; each failure of a batch has a line of its own, too."""
    if reply.get("batchItemFailures"):
        return "MessagesFailed"
    return str(reply.get("errorType", _SUCCESS))


def _reply(event: Any, deadline: RunDeadline) -> Mapping[str, object]:
    try:
        records = records_of(event)
        if records is not None:
            return agent().queue(deadline).work(records)
        return queue.success(agent().answer(event, deadline))
    except Rejected as error:
        return queue.failure(error)


def _tell(outcome: str, started: float) -> None:
    log = logger.info if outcome == _SUCCESS else logger.error
    log("answered", outcome=outcome, latency_ms=round((time.perf_counter() - started) * 1000))
