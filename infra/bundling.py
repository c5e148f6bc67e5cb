"""
The functions' zip files, by the packages that they need; stackroom_constructs.bundling builds one.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from aws_cdk import aws_lambda as lambda_

from stackroom_constructs.bundling import BASE_SERVICES, Bundle, source_of

ROOT = Path(__file__).parents[1]

# The part of botocore/data that we need: the services called, and what resolves their endpoints.
SERVICES = BASE_SERVICES | {
    "bedrock-agent",
    "bedrock-agent-runtime",
    "bedrock-runtime",
    "cloudwatch",
    "dynamodb",
    "events",
    "s3",
    "s3vectors",
    "secretsmanager",
    "sqs",
    "stepfunctions",
    "textract",
}


@dataclass(frozen=True)
class Group:
    """Functions that share a zip, because they import the same packages."""

    name: str
    extras: tuple[str, ...] = ()
    packages: tuple[str, ...] = ("stackroom",)  # our own packages

    def bundle(self) -> Bundle:
        return Bundle(
            folders={
                "functions": ROOT / "functions",
                **{package: source_of(package) for package in self.packages},
            },
            extras=self.extras,
            services=SERVICES,
            architecture=lambda_.Architecture.ARM_64,
        )


CORE = Group("core")
CACHED = Group("cached", extras=("redis",))
INSPECT = Group("inspect", extras=("extraction",))
OPENSEARCH = Group("opensearch", extras=("opensearch",), packages=("stackroom", "stackroom_stores"))
IDENTITY = Group("identity", extras=("identity",))
CONSOLE = Group(
    "console",
    # With the text extraction's packages, to show a document's text.
    extras=("console", "console-function", "extraction", "identity"),
    packages=("stackroom", "stackroom_agents", "stackroom_console", "stackroom_stores"),
)
RUNNER = Group(
    "runner", extras=("agents",), packages=("stackroom", "stackroom_agents", "stackroom_stores")
)
CACHED_RUNNER = replace(RUNNER, name="cached-runner", extras=("agents", "redis"))


def code_of(group: Group, *, with_dependencies: bool) -> lambda_.Code:
    """Return a group's code asset; without dependencies it takes no network and no time."""
    return group.bundle().code(with_dependencies=with_dependencies)
