"""
The function of a batch agent: an event in, the agent's answer out.

    {"contentType": "data", "content": {"data": "..."}}  ->  {"success": true, "result": ...}

Its events are told in `stackroom_agents.batch.agent_events`, its variables in
`batch.definition_settings`. What the sender can change is answered:
`{"success": false, "result": null, "error", "errorType"}`, where the type is a name under
`Rejected` in stackroom.errors. What may pass by itself is raised, so that Lambda tries an
asynchronous event again, and Step Functions can `Retry` by the names ModelThrottled and
ModelUnavailable (of the model) and StoreUnavailable (of S3). ServiceRefused, AgentMisconfigured and
AgentBroke are raised, too: an operator must mend those.

Whoever invokes it looks at `success`. Of an asynchronous invocation nobody does: there a queue is
the way.

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
    """The one of this process, however many events ask for it at the same time."""
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
    """Of a batch of messages each failure has its own line; one that had any is no success."""
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
