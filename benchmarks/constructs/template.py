"""What an app became: its resources, and what its roles may do, readable."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

_SHORT = {"AWS::Partition": "aws", "AWS::Region": "REGION", "AWS::AccountId": "ACCOUNT"}


def resources(template: Path) -> Counter[str]:
    """How many of each type."""
    return Counter(each["Type"] for each in _resources(template).values())


def grants(template: Path) -> list[tuple[str, str]]:
    """Action and resource, sorted, of every statement in every role and policy."""
    found = _resources(template)
    documents = [
        policy["PolicyDocument"]
        for each in found.values()
        if each["Type"] in ("AWS::IAM::Role", "AWS::IAM::Policy")
        for policy in each["Properties"].get("Policies", [each["Properties"]])
        if "PolicyDocument" in policy
    ]
    return sorted(
        {
            (action, _spelled(resource, found))
            for document in documents
            for statement in document["Statement"]
            for action in _listed(statement["Action"])
            for resource in _listed(statement["Resource"])
        }
    )


def _resources(template: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(template.read_text("utf-8"))["Resources"]
    return found


def _spelled(value: Any, found: dict[str, dict[str, Any]]) -> str:
    match value:
        case {"Fn::Join": [separator, parts]}:
            text = str(separator).join(_spelled(part, found) for part in parts)
        case {"Ref": name}:
            return _SHORT.get(name) or f"<{found[name]['Type'].rsplit('::', 1)[1]}>"
        case {"Fn::GetAtt": [name, _]}:
            return f"<{found[name]['Type'].rsplit('::', 1)[1]}>"
        case {"Fn::Sub": text}:
            return "ASSETS" if "-assets-" in text else str(text)
        case _:
            text = str(value)
    # The hash of an asset says nothing.
    bucket, _, key = text.partition("ASSETS/")
    return f"{bucket}ASSETS/KEY" if key and "*" not in key else text


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
