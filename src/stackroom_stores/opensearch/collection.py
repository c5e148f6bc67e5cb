"""
Signed calls to one collection of OpenSearch Serverless, with deadlines and our own errors.

It takes SigV4 for the service `aoss`, with the payload's hash as a signed header, and answers 403
otherwise [OpenSearch Service developer guide: serverless-clients, serverless-troubleshooting].
opensearch-py over urllib3 does so, and imports little else.
"""

import logging
import re
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from botocore.exceptions import BotoCoreError
from opensearchpy import OpenSearch, Urllib3AWSV4SignerAuth, Urllib3HttpConnection
from opensearchpy.exceptions import (
    ConnectionError,  # noqa: A004 - opensearch-py's own, base of its connection errors
    ConnectionTimeout,
    SerializationError,
    TransportError,
)

from stackroom.clock import Deadline
from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable, SearchRefused

_PATIENCE = 3.0  # seconds for one call, as for those of S3 Vectors (aws/session.py)
# Seconds before the second and the third attempt, at what passes by itself.
_PAUSES = (0.1, 0.4)
_THROTTLED = 429
_PASSING = frozenset({_THROTTLED, 502, 503, 504})
# Of a search for each of 20 knowledge bases at once (search/fan_out.py), with some to spare.
_CONNECTIONS = 25
_REGION = re.compile(r"\.(?P<region>[a-z0-9-]+)\.aoss(-fips)?\.")

# Loggers of opensearch-py's that write requests, answers and failures down, which are ours to tell.
_TALKATIVE = ("opensearch", "opensearchpy.trace")

Call = Callable[..., Any]


class Collection:
    """
    A collection. `endpoint` has CloudFormation's form: `https://<id>.<region>.aoss.amazonaws.com`.

    `credentials` are botocore's, read before each call, so that they may expire and be renewed. It
    is safe to use from several threads.
    """

    def __init__(self, endpoint: str, *, credentials: Any, region: str | None = None) -> None:
        for name in _TALKATIVE:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        at = urlsplit(endpoint)
        found = _REGION.search(at.hostname or "")
        of = found["region"] if found else region
        if credentials is None or of is None:
            raise SearchRefused("there are no AWS credentials, or no region, to sign searches with")
        is_secure = at.scheme == "https"
        self._client = OpenSearch(
            hosts=[
                {
                    "host": at.hostname,
                    "port": at.port or (443 if is_secure else 80),
                    "url_prefix": at.path.strip("/"),
                }
            ],
            http_auth=Urllib3AWSV4SignerAuth(credentials, of, "aoss"),
            use_ssl=is_secure,
            verify_certs=is_secure,
            connection_class=Urllib3HttpConnection,
            pool_maxsize=_CONNECTIONS,
            max_retries=0,  # ours know of the deadline
        )

    def close(self) -> None:
        """Close its connections; a process that searches to its end need not."""
        self._client.close()

    def mapping(self, index: str, deadline: Deadline) -> Any:
        """Return the mapping, by the name of the index."""
        return self._called("GetMapping", index, self._client.indices.get_mapping, deadline)

    def search(self, index: str, body: dict[str, Any], deadline: Deadline) -> Any:
        return self._called("Search", index, self._client.search, deadline, body=body)

    def multi_search(self, index: str, bodies: list[dict[str, Any]], deadline: Deadline) -> Any:
        """Search several times in one call; an error of one search is in its answer."""
        lines = [line for body in bodies for line in ({}, body)]
        return self._called("MultiSearch", index, self._client.msearch, deadline, body=lines)

    def _called(
        self, operation: str, index: str, call: Call, deadline: Deadline, **arguments: Any
    ) -> Any:
        pauses = list(_PAUSES)
        while True:
            deadline.check(operation)
            patience = min(_PATIENCE, deadline.left())
            try:
                return call(index=index, request_timeout=patience, **arguments)
            except (TransportError, SerializationError, BotoCoreError) as error:
                failed, may_pass = _translated(error, operation, index), _may_pass(error)
            if not pauses or not may_pass or deadline.left() <= pauses[0]:
                # Raised here, since what OpenSearch says in its own error may repeat the question.
                raise failed
            time.sleep(pauses.pop(0))


def _may_pass(error: Exception) -> bool:
    """Return whether to retry; a timeout has used up its time."""
    if isinstance(error, ConnectionError):
        return not isinstance(error, ConnectionTimeout)
    return isinstance(error, TransportError) and error.status_code in _PASSING


def _translated(error: Exception, operation: str, index: str) -> Exception:
    if isinstance(error, SerializationError):
        return KnowledgeBaseUnavailable(operation, "nonsense: no JSON")
    if isinstance(error, BotoCoreError):
        return SearchRefused(f"{operation} can't be signed: {type(error).__name__}")
    assert isinstance(error, TransportError), "nothing else is caught"
    if isinstance(error, ConnectionError):
        return KnowledgeBaseUnavailable(operation, type(error).__name__)
    return refusal(error.status_code, error.info, operation, index)


def refusal(status: Any, info: object, operation: str, index: str) -> Exception:
    """Return the error for an HTTP status other than success; `info` is the response's body."""
    if status == _THROTTLED:
        return KnowledgeBaseThrottled(operation)
    if isinstance(status, int) and status >= 500:
        return KnowledgeBaseUnavailable(operation, str(status))
    if status == 401:
        why = "the collection's network policy lets no request in from here"
    elif status == 403:
        why = (
            "check that the role may aoss:APIAccessAll on the collection, that a data access policy"
            f" lets it aoss:ReadDocument and aoss:DescribeIndex of index {index!r}, and that its"
            " credentials have not expired"
        )
    elif status == 404:
        why = f"the collection has no index {index!r}; create it, or name another"
    else:
        why = f"the request is refused ({_kind(info)})"
    return SearchRefused(f"{operation} answered {status}: {why}")


def _kind(info: object) -> str:
    """Return the kind of an error, without the reason, which may repeat the question."""
    error = info.get("error") if isinstance(info, dict) else None
    causes = error.get("root_cause") if isinstance(error, dict) else None
    first = causes[0] if isinstance(causes, list) and causes else error
    kind = first.get("type") if isinstance(first, dict) else None
    return kind if isinstance(kind, str) and re.fullmatch(r"[a-z_]{1,60}", kind) else "no reason"
