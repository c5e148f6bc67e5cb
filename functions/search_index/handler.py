"""
CloudFormation's custom resource that prepares an index of the pool for text search.

Deleting the resource does nothing, because the index stays. An invocation by hand with {} prepares
all indexes of the pool: CloudFormation invokes the function again only if the resource's properties
change.

A failure of text search must not fail a deployment, since Retrieve works without it: the resource
always succeeds, and its attribute State says what happened.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.search_index.custom_resource import Language, Request, RequestType
from functions.telemetry import logger_for
from stackroom.app.function_settings import JsonList, Settings
from stackroom.aws.s3vectors.index_creation import S3VectorsIndexes
from stackroom.aws.session import client
from stackroom.errors import ServiceRefused, Unavailable
from stackroom.search.index_setup import IndexSetup, SearchIndexBusy, SearchIndexGone

logger = logger_for("search_index")

# Milliseconds. With less, nothing is retried: one call may take 92 seconds with its retries, and
# the deployment waits for the response.
_MIN_MILLISECONDS = 120_000
_REMEDIES: dict[type[Exception], str] = {
    SearchIndexBusy: "another change of its text search is in progress; when GetIndex says ACTIVE"
    " instead of BUILDING, invoke this function",
    SearchIndexGone: 'it was deleted by hand; see "When something fails" in docs/deploy.md',
    ServiceRefused: "see which policy of the account or the organization denies it, then invoke"
    " this function",
    Unavailable: "S3 Vectors does not answer; invoke this function later",
}

HasTime = Callable[[], bool]


class SearchIndexSettings(Settings):
    """
    The settings for all indexes; CloudFormation names one index and passes its settings itself.
    """

    search_indexes: JsonList  # their names in the bucket
    search_language: Language
    vector_bucket_arn: str


@cache
def settings() -> SearchIndexSettings:
    return SearchIndexSettings.from_env()


@cache
def index_setup() -> IndexSetup:
    return IndexSetup(indexes=S3VectorsIndexes(client("s3vectors")))


@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    def has_time() -> bool:
        return context.get_remaining_time_in_millis() >= _MIN_MILLISECONDS

    if "RequestType" in event:
        return handle_request(Request.model_validate(event), has_time)
    deployed, bucket = settings(), settings().vector_bucket_arn
    return {
        index: prepare(index, bucket, deployed.search_language, has_time)
        for index in (f"{bucket}/index/{name}" for name in deployed.search_indexes)
    }


def handle_request(request: Request, has_time: HasTime) -> dict[str, Any]:
    """
    Prepare the index of a request and respond, whatever happens: a deployment is waiting.

    Raises the error as well: Lambda then invokes the function again, at most twice, after one and
    two minutes. Nobody waits for those responses.
    https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
    """
    properties = request.properties
    if request.type is RequestType.DELETE:
        request.succeeded(state="kept")
        return {}
    try:
        answer = prepare(properties.index, properties.bucket, properties.language, has_time)
    except Exception as error:
        request.succeeded(state=reason_of(error))
        raise
    request.succeeded(state=str(answer["text_search"]))
    return {properties.index: answer}


def prepare(
    index: str, bucket: str, language: str | None, has_time: HasTime
) -> dict[str, str | None]:
    state = index_setup().prepare(index, bucket=bucket, language=language, has_time=has_time)
    logger.info("prepared", index=index, text_search=state.readiness, language=state.language)
    return {"text_search": state.readiness, "language": state.language}


def reason_of(error: Exception) -> str:
    """Return what failed and what to do about it."""
    for kind, remedy in _REMEDIES.items():
        if isinstance(error, kind):
            return f"{error}: {remedy}"
    return f"{type(error).__name__}: {error}; see the log of the function search-index"
