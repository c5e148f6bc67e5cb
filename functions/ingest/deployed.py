"""The settings, use cases, logger and metrics that the function's tasks and recovery share."""

from functools import cache

from functions.telemetry import logger_for, metrics_for
from stackroom.app.function_settings import (
    AdmissionSettings,
    DataSourceSettings,
    DocumentSettings,
)
from stackroom.app.run_builder import RunBuilder
from stackroom.aws.session import client

logger = logger_for("ingest")
metrics = metrics_for("ingest")


class IngestSettings(AdmissionSettings, DataSourceSettings, DocumentSettings):
    state_machine_arn: str
    # How much faster a simulated Bedrock is than AWS's: direct calls are polled sooner.
    ingest_speed: float = 1.0


@cache
def use_cases() -> RunBuilder:
    return RunBuilder(settings=IngestSettings.from_env(), client=client)
