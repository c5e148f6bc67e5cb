"""
CloudFormation's custom resource: an index of the pool, made for search by words.

Nothing is deleted with the resource, for the index stays. By hand, as after somebody took the text
search away, it is {"RequestType": "Update", "ResourceProperties": {...}} with the properties of the
resource in the template.
"""

from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.observability import logger_for
from functions.search_index.custom_resource import Request, RequestType
from stackroom.aws.session import client
from stackroom.aws.settings import Settings
from stackroom.aws.use_cases import UseCases
from stackroom.errors import SearchIndexBusy, SearchIndexGone, ServiceRefused, Unavailable
from stackroom.retrieval.index_setup import IndexSetup

logger = logger_for("search_index")

# Milliseconds. With less nothing is tried again: one call may take 92 seconds with its retries, and
# the deployment waits for the answer.
_ENOUGH = 120_000
_REMEDIES: dict[type[Exception], str] = {
    SearchIndexBusy: "another change of its text search is under way; wait until GetIndex says"
    " ACTIVE instead of BUILDING, and deploy again",
    SearchIndexGone: 'somebody deleted it by hand; see "When something fails" in docs/deploy.md',
    ServiceRefused: "deploy again, for a new right takes a while to be known; if that doesn't help,"
    " see which policy of the account or the organization denies it",
    Unavailable: "S3 Vectors does not answer; deploy again later",
}


class SearchIndexSettings(Settings):
    """It reads no variable: CloudFormation says all of it."""


@cache
def index_setup() -> IndexSetup:
    return UseCases.of(SearchIndexSettings.from_env(), client).index_setup


@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    request = Request.model_validate(event)
    logger.append_keys(index=request.wanted.index, request_type=request.type)
    if request.type is RequestType.DELETE:
        request.succeeded()
        return {}

    try:
        state = index_setup().prepare(
            request.wanted.index,
            bucket=request.wanted.bucket,
            language=request.wanted.language,
            has_time=lambda: context.get_remaining_time_in_millis() >= _ENOUGH,
        )
    # Whatever it is: a deployment that is not answered waits for it.
    except Exception as error:
        if request.is_by_hand:
            raise
        logger.exception("not prepared")
        request.failed(reason_of(error))
        return {"text_search": None}
    logger.info("prepared", text_search=state.readiness, language=state.language)
    request.succeeded()
    return {"text_search": state.readiness, "language": state.language}


def reason_of(error: Exception) -> str:
    """What failed, and what to do about it."""
    for kind, remedy in _REMEDIES.items():
        if isinstance(error, kind):
            return f"{error}: {remedy}"
    return f"{type(error).__name__}: {error}; the log of the function search-index has more"
