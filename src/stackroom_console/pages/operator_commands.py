"""The shell's lines with which an operator inspects a run, and pauses or retries ingestion."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from stackroom_console.console import Connection

# Lambda keeps the mappings of a function from its queues to itself: a disabled one takes no message
# and loses none.
# https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
_MAPPINGS = """\
{keys}
aws lambda list-event-source-mappings --function-name {project}-inspect \\
    --query 'EventSourceMappings[].[UUID]' --output text |
    xargs -n 1 aws lambda update-event-source-mapping --query State --output text {change} --uuid
"""


@dataclass(frozen=True, kw_only=True)
class OperatorCommands:
    """The commands of this deployment. `keys` come first, in each shell that calls `aws`."""

    keys: str
    pause: str
    resume: str
    retry: str

    @classmethod
    def of(cls, connection: Connection, *, project: str, region: str) -> "OperatorCommands":
        keys, call = _keys(connection, region), connection.command_line.format
        of_mappings, named = _MAPPINGS.format, {"keys": keys, "project": project}
        return cls(
            keys=keys,
            pause=of_mappings(**named, change="--no-enabled"),
            resume=of_mappings(**named, change="--enabled"),
            retry=f"{call('retry --user NAME')}\n{call('reconcile')}\n",
        )


def _keys(connection: Connection, region: str) -> str:
    if connection.is_deployment:
        return f"export AWS_DEFAULT_REGION={region}"
    keys = connection.command_line.format("env --operator")
    folder = Path(shlex.split(keys)[0]).parent
    return f'export PATH={shlex.quote(str(folder))}:"$PATH"\neval "$({keys})"'
