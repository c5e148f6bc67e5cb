"""
Checks that a function's environment variables fit into 4 KB, before the deployment.

Lambda measures them as one JSON object, names and marks included: a quotation mark within a value
counts twice. Its error shows that ("String measured: {...}"), while its guide just says 4 KB:
https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
https://github.com/github-aws-runners/terraform-aws-github-runner/issues/3594
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import aws_cdk as cdk
from constructs import Construct

from stackroom_constructs.argument_checks import InvalidArgument, TooLarge

KNOWLEDGE_BASES_CONFIG = "KNOWLEDGE_BASES_CONFIG"
ALL_VARIABLES = 4096
# The limit of one variable in AgentCore Runtime, "per CloudFormation specification" [aws-cdk-lib
# 2.275:
# aws_bedrockagentcore.RuntimeProps]; the API takes 5,000 [API model of bedrock-agentcore-control].
RUNTIME_VARIABLE = 2048
# Leaves room for the other variables.
KNOWLEDGE_BASES = 3500

# Lengths of tokens, which are known only at deployment: their maximum, or what AWS's names usually
# have.
_PSEUDO = {"AWS::AccountId": 12, "AWS::Region": 14, "AWS::Partition": 3, "AWS::URLSuffix": 13}
_IDS = (
    ("KnowledgeBaseId", 10),
    ("DataSourceId", 10),
    ("GuardrailId", 12),
    ("VectorBucketArn", 123),
)
_OTHER = 64
_IN_A_SUB = re.compile(r"\$\{([^}!]+)\}")


def knowledge_bases_config(scope: Construct, entries: Sequence[Mapping[str, Any]]) -> str:
    """
    Return the variable's value. Raises InvalidArgument for invalid JSON, TooLarge over 3,500 bytes.
    """
    texts = [_as_json(scope, entry) for entry in entries]
    text = f"[{','.join(texts)}]"
    size = length(scope, text)
    if size > KNOWLEDGE_BASES:
        named = {str(entry["name"]): each for entry, each in zip(entries, texts, strict=True)}
        raise TooLarge(
            scope,
            KNOWLEDGE_BASES_CONFIG,
            size,
            KNOWLEDGE_BASES,
            parts={name: length(scope, each) for name, each in named.items()},
            advice="Shorten descriptions and retrieval filters, or give the agent fewer"
            " knowledge bases",
        )
    return text


_ADVICE = (
    "Shorten the prompt (the asset system_prompt has no such limit) or what describes the knowledge"
    " bases"
)


def check(scope: Construct, variables: Mapping[str, str], *, advice: str = _ADVICE) -> None:
    """Raise TooLarge for variables that Lambda would refuse."""
    size = length(scope, json.dumps(variables, ensure_ascii=False, separators=(",", ":")))
    if size > ALL_VARIABLES:
        raise TooLarge(
            scope,
            "the environment of the function",
            size,
            ALL_VARIABLES,
            parts={name: length(scope, value) for name, value in variables.items()},
            advice=advice,
        )


def check_each(scope: Construct, variables: Mapping[str, str]) -> None:
    """Raise InvalidArgument for a variable that is longer than a runtime allows."""
    for name, value in variables.items():
        if length(scope, value) > RUNTIME_VARIABLE:
            allowed = f"at most {RUNTIME_VARIABLE:,} bytes, like all variables of a runtime"
            raise InvalidArgument(scope, name, value, allowed)


def length(scope: Construct, text: str) -> int:
    """
    Return the bytes of a text in UTF-8.

    Tokens are estimated: an account has 12 bytes, a region at most 14, the id of a knowledge base
    10, any other reference 64. So Lambda may still refuse an environment with such references that
    comes close to the limit, and one that is refused here might have fitted.
    """
    return _length(cdk.Stack.of(scope).resolve(text))


def _length(value: Any) -> int:  # noqa: PLR0911 - one per intrinsic
    match value:
        case str():
            return len(value.encode())
        case {"Ref": str(name)}:
            return _PSEUDO.get(name) or _reference(name)
        case {"Fn::GetAtt": [*parts]}:
            return _reference(str(parts[-1]))
        case {"Fn::Join": [str(separator), [*parts]]}:
            between = len(separator.encode()) * max(0, len(parts) - 1)
            return between + sum(map(_length, parts))
        case {"Fn::Sub": str(text)}:
            bare = len(_IN_A_SUB.sub("", text).encode())
            return bare + sum(_length({"Ref": name}) for name in _IN_A_SUB.findall(text))
        case {"Fn::ImportValue": name}:
            return _reference(str(name))
        case _:
            return _OTHER


def _reference(name: str) -> int:
    return next((size for part, size in _IDS if part in name), _OTHER)


def _as_json(scope: Construct, entry: Mapping[str, Any]) -> str:
    name = entry["name"]
    try:
        text = json.dumps(entry, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        allowed = f"serializable as JSON ({error})"
        raise InvalidArgument(scope, f"configuration of {name!r}", entry, allowed) from error
    if "#{Token[" in text:
        allowed = "free of lists that are known only at deployment"
        raise InvalidArgument(scope, f"configuration of {name!r}", entry, allowed)
    return text
