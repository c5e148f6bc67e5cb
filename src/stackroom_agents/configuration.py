"""
The use cases behind the tools, for a program that has AWS credentials.

The credentials reach all users' documents, as the functions' roles do: the tools keep users apart,
by the identity of the invocation state. So they belong to a server or a notebook of the operator's,
not to a user.
"""

import os
from collections.abc import Mapping
from typing import Literal

from stackroom.app.function_settings import CatalogToolsSettings
from stackroom.app.tool_builder import ToolBuilder
from stackroom_agents.thread_safe_clients import client_of

_FUNCTIONS = ("retrieve", "catalog-tools")


class AgentSettings(CatalogToolsSettings):
    """The settings of the functions `catalog_tools` and `retrieve` together."""

    retrieve_sharing: Literal["off", "on"] = "off"


def from_environment(environ: Mapping[str, str] = os.environ) -> ToolBuilder:
    """
    Return the use cases, configured by the environment variables of those functions.

    KB_POOL, KB_CATALOG_TABLE, KB_CONTROL_TABLE, KB_DOCS_BUCKET, STATE_MACHINE_ARN and
    ANSWER_MODEL_ARN are required. Raises pydantic's ValidationError naming missing variables, never
    a value.
    """
    return ToolBuilder(settings=AgentSettings.from_env(environ), client=client_of)


def from_project(project: str = "stackroom") -> ToolBuilder:
    """
    Return the use cases, configured like those functions as they are deployed.

    So a notebook, or a shell after `stackroom env --operator`, needs only credentials and a region.
    It calls lambda:GetFunctionConfiguration, and raises botocore's ClientError if that is refused.
    """
    variables: dict[str, str] = {}
    for name in _FUNCTIONS:
        answer = client_of("lambda").get_function_configuration(FunctionName=f"{project}-{name}")
        variables |= answer["Environment"]["Variables"]
    return from_environment(variables)
