"""
Roles of the synthesised templates, IAM's decisions on them, and the recorded calls that they are
compared with.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from tests.campaigns.permissions.needs import Need
from tests.infra.assembly import Assembly, Resource

# Used by Lambda itself, with the function's role: its log, its traces, its queue, its environment.
_LOGS = ("logs:CreateLogStream", "logs:PutLogEvents")
_TRACES = ("xray:PutTraceSegments", "xray:PutTelemetryRecords")
# https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html asks for the first,
# second and fourth; the CDK grants all.
_POLLING = (
    "sqs:ReceiveMessage",
    "sqs:DeleteMessage",
    "sqs:ChangeMessageVisibility",
    "sqs:GetQueueAttributes",
    "sqs:GetQueueUrl",
)
# https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-eventsourcemapping.html
_OF_STREAMS = ("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator")
_STREAMS = ("dynamodb:ListStreams", "*")

# Of buckets, and the property that each has its document in.
_POLICIES = {
    "AWS::S3::BucketPolicy": "PolicyDocument",
    "AWS::S3Vectors::VectorBucketPolicy": "Policy",
}

# What nothing recorded uses, by function or agent.
_ON_PURPOSE = {
    # Knowledge bases grant it by default, for an app's own tool that has answers written;
    # Stackroom's tool only searches.
    ("clerk", "bedrock:RetrieveAndGenerate"),
    # For a text that lies there when a refused call or a deleted catalog settles its document: the
    # reader and the catalog's deletion have mostly removed it by then.
    ("ingest", "s3:DeleteObject"),
    ("ingest", "s3:ListBucketVersions"),
    # For agents' models that use tools in no stream: the deployment's own does.
    ("agent-runner", "bedrock:InvokeModel"),
}


class UnknownCondition(AssertionError):
    """A policy has a condition that nobody has told of here."""


@dataclass(frozen=True, order=True)
class Grant:
    """One action on one pattern of ARNs."""

    function: str
    action: str
    resource: str

    def __str__(self) -> str:
        return f"{self.function}: {self.action} on {self.resource}"

    def covers(self, need: Need) -> bool:
        return (
            self.function == need.function
            and _any_matches([self.action], need.action, fold=True)
            and _any_matches([self.resource], need.resource)
        )


@dataclass(frozen=True, kw_only=True)
class Statement:
    allows: bool
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    conditions: Mapping[str, Mapping[str, Any]]

    def covers(self, need: Need, principal: str) -> bool:
        return (
            _any_matches(self.actions, need.action, fold=True)
            and _any_matches(self.resources, need.resource)
            and all(_holds(*each, need, principal) for each in self.conditions.items())
        )


@dataclass(frozen=True, kw_only=True)
class Role:
    function: str
    arn: str
    statements: tuple[Statement, ...]
    queues: frozenset[str]  # and streams, that Lambda reads for it
    discarded_to: frozenset[str]  # where it puts what it gives up
    logs: str = ""  # its log group
    key: str = ""  # of its environment

    @property
    def grants(self) -> Iterator[Grant]:
        for each in self.statements:
            if each.allows:
                for action in each.actions:
                    for resource in each.resources:
                        yield Grant(self.function, action, resource)

    @property
    def used_by_code(self) -> set[Grant]:
        return {each for each in self.grants if not self._is_of_the_platform(each)}

    @property
    def used_by_lambda(self) -> set[Grant]:
        return {each for each in self.grants if self._is_of_the_platform(each)}

    def allows(self, need: Need) -> bool:
        covering = [each for each in self.statements if each.covers(need, self.arn)]
        return bool(covering) and all(each.allows for each in covering)

    def _is_of_the_platform(self, grant: Grant) -> bool:
        if grant.action in _LOGS:
            return f":log-group:{self.logs}:" in grant.resource
        if grant.action in (*_POLLING, *_OF_STREAMS):
            return grant.resource in self.queues
        if grant.action == "sqs:SendMessage" and grant.resource in self.discarded_to:
            return True
        if (grant.action, grant.resource) == _STREAMS:
            return True
        if grant.action == "kms:Decrypt":
            return grant.resource == self.key
        return grant.action in _TRACES and grant.resource == "*"


def is_on_purpose(grant: Grant) -> bool:
    """Return whether the grant is intended although no recorded call uses it."""
    return (grant.function, grant.action) in _ON_PURPOSE


def roles(assembly: Assembly) -> dict[str, Role]:
    """
    Return the roles by function, as `upload-handler`, or by agent. Denials of the buckets count as
    the role's.
    """
    denied = [
        _statement(each)
        for stack in sorted(assembly.stacks)
        for type_, document in _POLICIES.items()
        for policy in assembly.all(stack, type_)
        for each in policy.properties[document]["Statement"]
        if each["Effect"] == "Deny" and not _is_of_the_wire(each)
    ]
    found = {}
    for stack in sorted(assembly.stacks):
        for function in assembly.all(stack, "AWS::Lambda::Function"):
            made = _role(assembly, stack, function, denied)
            found[made.function] = made
    return found


def _role(assembly: Assembly, stack: str, function: Resource, denied: list[Statement]) -> Role:
    properties = function.properties
    name = properties.get("FunctionName", function.logical_id)
    role = properties["Role"].rpartition("/")[2]
    invoked_by = [
        each.properties
        for each in assembly.all(
            stack, "AWS::Lambda::EventSourceMapping", "AWS::Lambda::EventInvokeConfig"
        )
        if each.properties["FunctionName"] == name
    ]
    return Role(
        function=_told(function).removeprefix("stackroom-"),
        arn=properties["Role"],
        statements=(*_statements(assembly, stack, role), *denied),
        queues=frozenset(each["EventSourceArn"] for each in invoked_by if "EventSourceArn" in each),
        discarded_to=frozenset(
            each["DestinationConfig"]["OnFailure"]["Destination"]
            for each in invoked_by
            if "DestinationConfig" in each
        ),
        logs=properties.get("LoggingConfig", {}).get("LogGroup", f"/aws/lambda/{name}"),
        key=properties.get("KmsKeyArn", ""),
    )


def _told(function: Resource) -> str:
    """Its name; an agent's function has none but the agent's."""
    properties = function.properties
    if "FunctionName" in properties:
        return str(properties["FunctionName"])
    return str(properties["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"])


def _statements(assembly: Assembly, stack: str, role: str) -> Iterator[Statement]:
    documents = [
        each.properties["PolicyDocument"]
        for each in assembly.all(stack, "AWS::IAM::Policy")
        if role in each.properties["Roles"]
    ]
    for made in assembly.all(stack, "AWS::IAM::Role"):
        if made.properties.get("RoleName", made.logical_id) == role:
            assert "ManagedPolicyArns" not in made.properties, "all its rights are in view"
            documents += [each["PolicyDocument"] for each in made.properties.get("Policies", [])]
    for document in documents:
        yield from map(_statement, document["Statement"])


def _statement(written: Mapping[str, Any]) -> Statement:
    unknown = written.keys() - {
        *("Effect", "Action", "Resource", "Condition", "Sid", "Principal"),
    }
    assert not unknown, f"nobody has told what {unknown} means"
    return Statement(
        allows=written["Effect"] == "Allow",
        actions=tuple(_listed(written["Action"])),
        resources=tuple(_listed(written["Resource"])),
        conditions=written.get("Condition", {}),
    )


def _is_of_the_wire(statement: Mapping[str, Any]) -> bool:
    """Encryption on the way, which is boto3's affair."""
    keys = {key for operands in statement.get("Condition", {}).values() for key in operands}
    return bool(keys) and keys <= {"aws:SecureTransport", "s3:TlsVersion"}


def _holds(operator: str, operands: Mapping[str, Any], need: Need, principal: str) -> bool:
    for key, wanted in operands.items():
        values = need.context.get(key, ())
        if key == "aws:PrincipalArn":
            values = (principal,)
        patterns = _listed(wanted)
        match operator:
            case "StringEquals":
                held = bool(values) and all(each in patterns for each in values)
            case "ForAllValues:StringEquals":  # of no values, too [IAM user guide: multi-key]
                held = all(each in patterns for each in values)
            case "ForAllValues:StringLike":
                held = all(_any_matches(patterns, each) for each in values)
            case "StringLike" | "ArnLike":
                held = bool(values) and all(_any_matches(patterns, each) for each in values)
            case "Null":
                held = [str(bool(not values)).lower()] == patterns
            case "ArnNotLike" | "StringNotLike":
                held = not any(_any_matches(patterns, each) for each in values)
            case _:
                raise UnknownCondition(f"{operator} {key}")
        if not held:
            return False
    return True


def _any_matches(patterns: Iterable[str], value: str, *, fold: bool = False) -> bool:
    flags = re.IGNORECASE if fold else re.NOFLAG
    return any(_pattern(each, flags).fullmatch(value) for each in patterns)


@cache
def _pattern(written: str, flags: re.RegexFlag) -> re.Pattern[str]:
    """`*` is any number of any characters, line breaks too; `?` is one."""
    parts = (re.escape(each) for each in re.split(r"([*?])", written))
    text = "".join({r"\*": ".*", r"\?": "."}.get(part, part) for part in parts)
    return re.compile(text, re.DOTALL | flags)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@dataclass(frozen=True, kw_only=True)
class Use:
    """How often a grant was used, and for which modules of the product."""

    calls: int
    wanted_by: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    roles: Mapping[str, Role]
    _calls: Counter[Need] = field(default_factory=Counter)

    def add(self, needs: Iterable[Need]) -> None:
        self._calls.update(needs)

    def calls(self, function: str) -> int:
        return sum(count for need, count in self._calls.items() if need.function == function)

    @property
    def denied(self) -> list[Need]:
        """The calls that no role allows."""
        return sorted((each for each in self._calls if not self._is_allowed(each)), key=str)

    @property
    def unused(self) -> list[Grant]:
        """The grants that no call used."""
        return sorted(each for each, use in self.uses.items() if not use.calls)

    @cached_property
    def uses(self) -> dict[Grant, Use]:
        """
        The uses of every grant except those of Lambda itself; complete once all calls are added.
        """
        grants = sorted(each for role in self.roles.values() for each in role.used_by_code)
        return {each: self._use_of(each) for each in grants}

    def _is_allowed(self, need: Need) -> bool:
        role = self.roles.get(need.function)
        return role is not None and role.allows(need)

    def _use_of(self, grant: Grant) -> Use:
        using = [need for need in self._calls if grant.covers(need)]
        return Use(
            calls=sum(self._calls[each] for each in using),
            wanted_by=tuple(sorted({each.wanted_by for each in using})),
        )
