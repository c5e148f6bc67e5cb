"""Synthesised templates with references resolved to the names that AWS will show."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PSEUDO = {
    "AWS::AccountId": "{account}",
    "AWS::Region": "{region}",
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
}
_NAMES = (
    "BucketName",
    "TableName",
    "QueueName",
    "FunctionName",
    "RoleName",
    "StateMachineName",
    "LogGroupName",
    "TopicName",
    "UserPoolName",
    "ManagedPolicyName",
    "VectorBucketName",
)
_ARNS = {
    "AWS::SNS::Topic": "arn:aws:sns:{{region}}:{{account}}:{name}",
    "AWS::S3::Bucket": "arn:aws:s3:::{name}",
    "AWS::DynamoDB::GlobalTable": "arn:aws:dynamodb:{{region}}:{{account}}:table/{name}",
    "AWS::SQS::Queue": "arn:aws:sqs:{{region}}:{{account}}:{name}",
    "AWS::Lambda::Function": "arn:aws:lambda:{{region}}:{{account}}:function:{name}",
    "AWS::Logs::LogGroup": "arn:aws:logs:{{region}}:{{account}}:log-group:{name}",
    "AWS::IAM::Role": "arn:aws:iam::{{account}}:role/{name}",
    "AWS::Bedrock::KnowledgeBase": "arn:aws:bedrock:{{region}}:{{account}}:knowledge-base/{name}",
    "AWS::S3Vectors::VectorBucket": "arn:aws:s3vectors:{{region}}:{{account}}:bucket/{name}",
    "AWS::S3Vectors::Index": "{bucket}/index/{name}",
    "AWS::BedrockAgentCore::PolicyEngine": (
        "arn:aws:bedrock-agentcore:{{region}}:{{account}}:policy-engine/{name}"
    ),
    "AWS::BedrockAgentCore::Gateway": (
        "arn:aws:bedrock-agentcore:{{region}}:{{account}}:gateway/{name}"
    ),
    "AWS::StepFunctions::StateMachine": (
        "arn:aws:states:{{region}}:{{account}}:stateMachine:{name}"
    ),
    # AWS appends six characters to the name.
    "AWS::SecretsManager::Secret": "arn:aws:secretsmanager:{{region}}:{{account}}:secret:{name}",
}
_REFERRED_BY_ARN = (
    "AWS::StepFunctions::StateMachine",
    "AWS::SNS::Topic",
    "AWS::SecretsManager::Secret",
)


# Retained when its stack is deleted, unless it was created by the operation that is rolled back:
# otherwise it would block the next attempt.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
KEPT = "RetainExceptOnCreate"


@dataclass(frozen=True)
class Resource:
    logical_id: str
    type: str
    properties: dict[str, Any]
    raw: dict[str, Any]


class Assembly:
    """
    A deployment's stacks: `data`, `knowledge-base`, `pipeline`, `gateway`, `console`, `operations`.
    """

    def __init__(self, directory: Path, project: str = "stackroom") -> None:
        self.directory = directory
        self.project = project
        self.files = sorted(directory.glob("*.template.json"))
        self._templates = {
            path.name.removeprefix(f"{project}-").removesuffix(".template.json"): json.loads(
                path.read_text("utf-8")
            )
            for path in self.files
        }
        self._exports = {
            output["Export"]["Name"]: (stack, output["Value"])
            for stack, template in self._templates.items()
            for output in template.get("Outputs", {}).values()
            if "Export" in output
        }

    @property
    def stacks(self) -> set[str]:
        return set(self._templates)

    def template(self, stack: str) -> dict[str, Any]:
        """Return the template as it was synthesised."""
        template: dict[str, Any] = self._templates[stack]
        return template

    def all(self, stack: str, *types: str) -> list[Resource]:
        return [
            Resource(logical_id, raw["Type"], self.readable(stack, raw.get("Properties", {})), raw)
            for logical_id, raw in self._templates[stack]["Resources"].items()
            if not types or raw["Type"] in types
        ]

    def one(self, stack: str, type_: str, name: str = "") -> Resource:
        """Return the only resource of a type, or the one whose logical id starts with `name`."""
        [found] = [each for each in self.all(stack, type_) if each.logical_id.startswith(name)]
        return found

    def function(self, name: str) -> dict[str, Any]:
        """Return the properties of a function, by its name without the project's."""
        [found] = [
            each.properties
            for stack in self.stacks
            for each in self.all(stack, "AWS::Lambda::Function")
            if each.properties.get("FunctionName") == f"{self.project}-{name}"
        ]
        return found

    def variables(self, name: str) -> dict[str, str]:
        """Return the environment variables of a function."""
        found: dict[str, str] = self.function(name)["Environment"]["Variables"]
        return found

    def granted(self, name: str) -> set[tuple[str, str]]:
        """
        Return the rights of a function's role: actions, and ARNs without service, region and
        account.
        """
        role = f"{self.project}-{name}-{{region}}"
        return {
            (action, resource if resource == "*" else resource.split(":", 5)[5])
            for stack in self.stacks
            for policy in self.all(stack, "AWS::IAM::Policy")
            if role in policy.properties["Roles"]
            for statement in policy.properties["PolicyDocument"]["Statement"]
            for action in as_list(statement["Action"])
            for resource in as_list(statement["Resource"])
        }

    def outputs(self, stack: str) -> dict[str, Any]:
        """Return the outputs for people, without CloudFormation's exports."""
        return {
            name: self.readable(stack, output["Value"])
            for name, output in self._templates[stack].get("Outputs", {}).items()
            if "Export" not in output
        }

    def readable(self, stack: str, value: Any) -> Any:  # noqa: PLR0911 - one per intrinsic
        match value:
            case {"Ref": name}:
                return _PSEUDO.get(name) or self._reference(stack, name)
            case {"Fn::GetAtt": [name, attribute]}:
                return self._attribute(stack, name, attribute)
            case {"Fn::ImportValue": name}:
                return self.readable(*self._exports[name])
            case {"Fn::Join": [separator, parts]}:
                return separator.join(str(self.readable(stack, part)) for part in parts)
            case {"Fn::Sub": str(text)}:
                return re.sub(r"\$\{([^}]+)\}", lambda found: _PSEUDO[found[1]], text)
            case dict():
                return {key: self.readable(stack, member) for key, member in value.items()}
            case list():
                return [self.readable(stack, member) for member in value]
            case _:
                return value

    def _name(self, stack: str, logical_id: str) -> str:
        properties = self._templates[stack]["Resources"][logical_id].get("Properties", {})
        named = next((properties[name] for name in _NAMES if name in properties), logical_id)
        return str(self.readable(stack, named))

    def _reference(self, stack: str, logical_id: str) -> str:
        type_ = self._templates[stack]["Resources"][logical_id]["Type"]
        if type_ in _REFERRED_BY_ARN:
            return self._attribute(stack, logical_id, "Arn")
        return self._name(stack, logical_id)

    def _attribute(self, stack: str, logical_id: str, attribute: str) -> str:
        name = self._name(stack, logical_id)
        resource = self._templates[stack]["Resources"][logical_id]
        pattern = _ARNS.get(resource["Type"])
        if attribute.endswith("Arn") and pattern:
            properties = resource.get("Properties", {})
            bucket = self.readable(stack, properties.get("VectorBucketArn", ""))  # of an index
            return pattern.format(name=name, bucket=bucket)
        return f"{name}.{attribute}"


def as_list(value: Any) -> list[Any]:
    """Return a list of one or many values, as IAM has either."""
    return value if isinstance(value, list) else [value]
