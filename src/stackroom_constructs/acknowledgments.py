"""Findings of cdk-nag that are right as they are, each at its resource and with its reason."""

import re
from typing import Any

import aws_cdk as cdk
from constructs import IConstruct


def accept(construct: IConstruct, rule: str, *, because: str) -> None:
    """`rule` is AwsSolutions' name for the finding, such as `S1`; it holds below `construct`."""
    cdk.Validations.of(construct).acknowledge(
        cdk.Acknowledgment(id=f"AwsSolutions::AwsSolutions-{rule}", reason=because)
    )


def accept_wildcard(construct: IConstruct, resource_arn: str, *, because: str) -> None:
    """Accept one ARN of the policies below `construct`; any other wildcard is still found."""
    finding = _spelled(cdk.Stack.of(construct).resolve(resource_arn))
    accept(construct, f"IAM5[Resource::{finding}]", because=because)


def _spelled(value: Any) -> str:
    """A CloudFormation value as cdk-nag's findings spell it: references in angle brackets."""
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
            raise ValueError(f"no spelling known for {value!r}")
