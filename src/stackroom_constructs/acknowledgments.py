"""Accepted findings of cdk-nag, each at its resource and with its reason."""

import re
from typing import Any

import aws_cdk as cdk
from constructs import IConstruct


def accept(construct: IConstruct, rule: str, *, because: str) -> None:
    """Accept a finding below `construct`; `rule` is its name in AwsSolutions, such as `S1`."""
    cdk.Validations.of(construct).acknowledge(
        cdk.Acknowledgment(id=f"AwsSolutions::AwsSolutions-{rule}", reason=because)
    )


def accept_wildcard(construct: IConstruct, resource_arn: str, *, because: str) -> None:
    """Accept one ARN in the policies below `construct`; other wildcards are still found."""
    finding = _spelled(cdk.Stack.of(construct).resolve(resource_arn))
    accept(construct, f"IAM5[Resource::{finding}]", because=because)


def _spelled(value: Any) -> str:
    """
    Return a CloudFormation value as cdk-nag's findings spell it, with references in angle brackets.
    """
    match value:
        case str():
            return re.sub(r"\$\{([^}]+)\}", r"<\1>", value)
        case {"Ref": name}:
            return f"<{name}>"
        case {"Fn::GetAtt": [name, attribute]}:
            return f"<{name}.{attribute}>"
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(map(_spelled, parts))
        case _:
            raise ValueError(f"cdk-nag's spelling of {value!r} is unknown")
