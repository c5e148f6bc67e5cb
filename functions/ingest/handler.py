"""The pipeline's own function: the tasks of a run, and recovery from a failed run."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import TypeAdapter

from functions.ingest import recovery, tasks
from functions.ingest.deployed import logger, metrics

_REQUEST: TypeAdapter[tasks.Request | recovery.Request] = TypeAdapter(
    tasks.Request | recovery.Request
)


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    match _REQUEST.validate_python(event):
        case tasks.Step() as step:
            return tasks.move_on(step)
        case tasks.AdmissionRequest() as request:
            return tasks.admit(request)
        case recovery.Breakdown() as breakdown:
            return recovery.record(breakdown)
        case recovery.Ending() as ending:
            return recovery.recover(ending)
        case recovery.Sweep() as sweep:
            return recovery.sweep(sweep)
