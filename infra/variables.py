"""
Checks that each function's variables fit into Lambda's limit, before anything is deployed.

AWS would report it only when the knowledge bases exist already.
"""

import json
from typing import Any

import aws_cdk as cdk

from infra.function import HandlerFunction

# For all variables of a function together, not adjustable. Lambda measures them as JSON, in which a
# quote within a value takes two bytes; its error says "String measured" and that JSON.
# https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
# https://github.com/github-aws-runners/terraform-aws-github-runner/issues/3594
_MAX_BYTES = 4096

# The longest values of what isn't known yet.
# https://docs.aws.amazon.com/bedrock/latest/APIReference/API_agent_DataSource.html
_ATTRIBUTES = {"KnowledgeBaseId": 10, "DataSourceId": 10, "VectorBucketArn": 123}
_PSEUDO = {"AWS::AccountId": 12, "AWS::Region": 14, "AWS::Partition": 10, "AWS::URLSuffix": 16}
# A bucket's name; an ARN may be longer, but names of tables and ids are shorter by more.
_ANYTHING_ELSE = 63


def check_variables(app: cdk.App) -> None:
    """Raise ValueError that names the first function whose variables may exceed the limit."""
    for each in app.node.find_all():
        if not isinstance(each, HandlerFunction):
            continue
        variables = cdk.Stack.of(each).resolve(each.variables)
        longest = {name: _longest(value) for name, value in variables.items()}
        size = len(json.dumps(longest, separators=(",", ":")))
        if size > _MAX_BYTES:
            raise ValueError(
                f"the variables of {each.name!r} may take {size:,} bytes, more than"
                f" Lambda's {_MAX_BYTES:,}: choose a smaller knowledge_base_pool_size, fewer"
                " agent_models, or shorter shared_knowledge_bases_file and answer_prompt_file"
            )


def _longest(value: Any) -> str:
    match value:
        case str():
            return value
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(map(_longest, parts))
        case {"Ref": name}:
            return "x" * _PSEUDO.get(name, _ANYTHING_ELSE)
        case {"Fn::GetAtt": [_, name]}:
            return "x" * _ATTRIBUTES.get(name, _ANYTHING_ELSE)
    raise AssertionError(f"the length of {value} is unknown")
