"""
Enforcement of Deny statements in vector bucket policies.

Nobody needs an Allow, since no other rights are checked: rule vector-bucket.policy-denies.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.access_keys import RootKey
from bedrock_kb_simulator.dispatcher import Parameters
from bedrock_kb_simulator.identifiers import Arns
from bedrock_kb_simulator.service_errors import ServiceError
from bedrock_kb_simulator.store import Store, loaded

_PRINCIPAL = "aws:principalarn"  # names of condition keys have no case
_SESSION = re.compile(r"arn:aws:sts::(\d{12}):assumed-role/([^/]+)/.+")
_OPERATORS: Mapping[str, bool] = {  # True if one of the patterns must match
    **dict.fromkeys(("ArnEquals", "ArnLike", "StringEquals", "StringLike"), True),
    **dict.fromkeys(("ArnNotEquals", "ArnNotLike", "StringNotEquals", "StringNotLike"), False),
}


def denies(store: Store, action: str, resource: str, principal: str) -> bool:
    """
    Return True if the policy of the resource's bucket denies the principal the action.

    A role is given by its own ARN, not its session's.
    """
    bucket = resource.partition("/index/")[0].rpartition("/")[2]
    row = store.row("SELECT policy FROM vector_buckets WHERE name = ?", bucket)
    if row is None or row["policy"] is None:
        return False
    return any(
        _covers(each, f"s3vectors:{action}", resource, principal)
        for each in _denials(row["policy"])
    )


def refusal_of_role(store: Store, knowledge_base_id: str, *actions: str) -> ServiceError | None:
    """Return the error if the policy denies the knowledge base's role an action, else None."""
    home = store.row("SELECT index_arn, body FROM knowledge_bases WHERE id = ?", knowledge_base_id)
    if home is None:
        return None
    index, role = home["index_arn"], loaded(home["body"]).get("roleArn", "")
    for action in actions:
        if denies(store, action, index, role):
            return rules.VECTOR_POLICY_DENIES_ROLE.broken(role=role, action=action, resource=index)
    return None


@lru_cache(maxsize=64)
def _denials(policy: str) -> list[dict[str, Any]]:
    statements = _as_list(json.loads(policy)["Statement"])
    return [each for each in statements if each.get("Effect") == "Deny"]


def _covers(statement: Mapping[str, Any], action: str, resource: str, principal: str) -> bool:
    named = statement.get("Principal", ())
    principals = _as_list(named.get("AWS", ()) if isinstance(named, dict) else named)
    return (
        ("*" in principals or principal in principals)
        and _matches(_as_list(statement.get("Action", ())), action, re.IGNORECASE)
        and _matches(_as_list(statement.get("Resource", ())), resource)
        and all(
            _holds(operator, operands, principal)
            for operator, operands in statement.get("Condition", {}).items()
        )
    )


def _holds(operator: str, operands: Mapping[str, Any], principal: str) -> bool:
    """Return False for unknown conditions: such a statement denies nothing."""
    return all(
        key.lower() == _PRINCIPAL
        and operator in _OPERATORS
        and _matches(_as_list(patterns), principal) is _OPERATORS[operator]
        for key, patterns in operands.items()
    )


def _matches(patterns: Iterable[str], value: str, flags: re.RegexFlag = re.NOFLAG) -> bool:
    """Match a value with patterns: `*` is any number of characters, `?` is one."""
    return any(
        re.fullmatch(re.escape(each).replace(r"\*", ".*").replace(r"\?", "."), value, flags)
        for each in patterns
    )


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


@dataclass(frozen=True, kw_only=True)
class CallersRights:
    """
    The rights of callers of S3 Vectors.

    `identity` returns the ARN of an access key's owner, as STS does. The account's root may do
    everything, as elsewhere in the local mode.
    """

    store: Store
    arns: Arns
    root: RootKey
    identity: Callable[[str], str]
    _known: dict[str, str] = field(default_factory=dict)

    def check(self, access_key_id: str, operation: Any, parameters: Parameters) -> None:
        """Raise AccessDeniedException if the bucket's policy denies the caller the operation."""
        resource = self._resource(parameters)
        if operation.service_model.service_name != "s3vectors" or resource is None:
            return
        if access_key_id == self.root.access_key_id:
            return
        caller = self._known.get(access_key_id) or self.identity(access_key_id)
        self._known[access_key_id] = caller
        if denies(self.store, operation.name, resource, _principal(caller)):
            raise rules.VECTOR_POLICY_DENIES.broken(
                caller=caller, action=operation.name, resource=resource
            )

    def _resource(self, parameters: Parameters) -> str | None:
        """Return the ARN of the request's index or bucket, or None."""
        named = ("indexArn", "resourceArn", "vectorBucketArn")
        arn = next((str(parameters[each]) for each in named if parameters.get(each)), None)
        if arn is None and parameters.get("vectorBucketName"):
            arn = self.arns.vector_bucket(parameters["vectorBucketName"])
        if arn and "/index/" not in arn and parameters.get("indexName"):
            return f"{arn}/index/{parameters['indexName']}"
        return arn


def _principal(caller: str) -> str:
    """
    Return the caller's ARN, or of a session its role's, as aws:PrincipalArn has it.

    A role's path is unknown here. [IAM user guide: reference_policies_condition-keys]
    """
    session = _SESSION.fullmatch(caller)
    return f"arn:aws:iam::{session[1]}:role/{session[2]}" if session else caller


def caller_arn(endpoint: str, region: str, root: RootKey, access_key_id: str) -> str:
    """Return the ARN of an access key's owner from STS; its secret derives from the root's."""
    import boto3  # noqa: PLC0415 - loaded when the first caller is asked for

    is_session = access_key_id.startswith("ASIA")
    sts = boto3.client(
        "sts",
        endpoint_url=endpoint,
        region_name=region,
        aws_access_key_id=access_key_id,
        aws_secret_access_key=root.secret_of(access_key_id),
        aws_session_token=root.token_of(access_key_id) if is_session else None,
    )
    return str(sts.get_caller_identity()["Arn"])
