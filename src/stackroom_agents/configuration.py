"""
The use cases behind the tools, for a program that has AWS credentials.

The credentials reach everybody's documents, as the functions' roles do: it is the tools that keep
users apart, by the identity of the invocation state. So they belong to a server or a notebook of
the operator's, not to a user.
"""

import os
from collections.abc import Mapping
from typing import Literal

from stackroom.app.function_settings import CatalogToolsSettings
from stackroom.app.tool_builder import ToolBuilder
from stackroom_agents.thread_safe_clients import client_of

_FUNCTIONS = ("retrieve", "catalog-tools")


class AgentSettings(CatalogToolsSettings):
    """What the functions `catalog_tools` and `retrieve` read, together."""

    retrieve_sharing: Literal["off", "on"] = "off"


def from_environment(environ: Mapping[str, str] = os.environ) -> ToolBuilder:
    """
    By the environment variables that those functions have. These can't be done without: KB_POOL,
    KB_CATALOG_TABLE, KB_CONTROL_TABLE, KB_DOCS_BUCKET, STATE_MACHINE_ARN, ANSWER_MODEL_ARN.

    Raises pydantic's ValidationError naming what is missing, never a value.
    """
    return ToolBuilder(settings=AgentSettings.from_env(environ), client=client_of)


def from_project(project: str = "stackroom") -> ToolBuilder:
    """
    By the configuration of those functions as they are deployed, so that a notebook, or a shell
    after `stackroom env --operator`, needs to know nothing but credentials and region.

    Takes lambda:GetFunctionConfiguration; raises botocore's ClientError where it is refused.
    """
    variables: dict[str, str] = {}
    for name in _FUNCTIONS:
        answer = client_of("lambda").get_function_configuration(FunctionName=f"{project}-{name}")
        variables |= answer["Environment"]["Variables"]
    return from_environment(variables)
