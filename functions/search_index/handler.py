"""
CloudFormation's custom resource: an index of the pool, made for search by words.

Nothing is done when the resource goes, for the index stays. Whoever invokes it by hand, with {},
has all indexes of the pool made so: CloudFormation asks again only if what it asks for changes.

Search by words is no reason to break off a deployment, since Retrieve searches without it: whatever
comes of it, the resource is done and its attribute State says how it stands.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.search_index.custom_resource import Language, Request, RequestType
from functions.telemetry import logger_for
from stackroom.app.function_settings import JsonList, Settings
from stackroom.aws.session import client
from stackroom.errors import ServiceRefused, Unavailable
from stackroom.search.index_setup import IndexSetup, SearchIndexBusy, SearchIndexGone
from stackroom.stores.s3vectors.index_creation import S3VectorsIndexes

logger = logger_for("search_index")

# Milliseconds. With less nothing is tried again: one call may take 92 seconds with its retries, and
# the deployment waits for the answer.
_ENOUGH = 120_000
_REMEDIES: dict[type[Exception], str] = {
    SearchIndexBusy: "another change of its text search is under way; when GetIndex says ACTIVE"
    " instead of BUILDING, invoke this function",
    SearchIndexGone: 'somebody deleted it by hand; see "When something fails" in docs/deploy.md',
    ServiceRefused: "see which policy of the account or the organization denies it, then invoke"
    " this function",
    Unavailable: "S3 Vectors does not answer; invoke this function later",
}

HasTime = Callable[[], bool]


class SearchIndexSettings(Settings):
    """Of all indexes; CloudFormation asks for one, and says the rest itself."""

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
        return context.get_remaining_time_in_millis() >= _ENOUGH

    if "RequestType" in event:
        return asked(Request.model_validate(event), has_time)
    known, bucket = settings(), settings().vector_bucket_arn
    return {
        index: prepared(index, bucket, known.search_language, has_time)
        for index in (f"{bucket}/index/{name}" for name in known.search_indexes)
    }


def asked(request: Request, has_time: HasTime) -> dict[str, Any]:
    """
    Whatever comes of it, CloudFormation is told: a deployment waits for the answer.

    Raises what was in the way, too: Lambda then invokes the function again, twice at most, after
    one and two minutes. Nobody waits for the answers of those.
    https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
    """
    wanted = request.wanted
    if request.type is RequestType.DELETE:
        request.succeeded(state="kept")
        return {}
    try:
        answer = prepared(wanted.index, wanted.bucket, wanted.language, has_time)
    except Exception as error:
        request.succeeded(state=reason_of(error))
        raise
    request.succeeded(state=str(answer["text_search"]))
    return {wanted.index: answer}


def prepared(
    index: str, bucket: str, language: str | None, has_time: HasTime
) -> dict[str, str | None]:
    state = index_setup().prepare(index, bucket=bucket, language=language, has_time=has_time)
    logger.info("prepared", index=index, text_search=state.readiness, language=state.language)
    return {"text_search": state.readiness, "language": state.language}


def reason_of(error: Exception) -> str:
    """What failed, and what to do about it."""
    for kind, remedy in _REMEDIES.items():
        if isinstance(error, kind):
            return f"{error}: {remedy}"
    return f"{type(error).__name__}: {error}; the log of the function search-index has more"
