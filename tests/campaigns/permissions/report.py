"""What came of the comparison: docs/permissions.md."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.campaigns.permissions.roles import Comparison, Grant, Role, Use, is_on_purpose

DOCUMENT = Path(__file__).parents[3] / "docs" / "permissions.md"
_HEAD = """\
# Least privilege, seen

Every right of every function, and the part of the product that used it. `make permissions` writes
this page: it has each function do all that it does, in a running local mode and, what is rare, in
simulated time; it records each call of AWS, and holds the calls against the policies of the
synthesised roles and of both buckets. Of {calls} calls, {denied} were not allowed; of {granted}
rights, {unused} were not used, but for the runner's to ask a model without a stream, which is for
models that use tools in none.

Not in the tables: what Lambda itself does with a function's role, which is to write its log and its
traces and to read its queue. Calls count for what they need: a look at an object that is not there
needs `s3:ListBucket` too, or S3 answers 403; a transaction needs the rights of its items; a link
the right of whoever signed it.

`prewarm` is deployed with the setting `prewarm_minutes` alone. One function is deployed where it is
asked for alone, and is not here: `opensearch-retrieve`
([a stack of its own](opensearch.md)) may `aoss:APIAccessAll` and `bedrock:InvokeModel`.
"""
# Where the page goes on with agents.
_AGENTS = "# Agents, seen"
_HEAD_OF_AGENTS = """\
The same of three agents by `BatchAgent` (tests/campaigns/permissions/agent_stack.py), whose handler
runs in a process of its own, with the environment and against the role of its template: `clerk` has
two knowledge bases, one with a guardrail and one that tells groups apart, a tool and documents in
S3 with rights that the app states, a queue of questions and one of answers; `librarian` has the
knowledge bases alone. Of {calls} calls, {denied} were not allowed; of
{granted} rights, {unused} were not used, but for {on_purpose} on purpose:
`bedrock:RetrieveAndGenerate`, which the clerk's knowledge bases grant by default for an app's own
tools that have answers written, and the librarian's leave out with `generation=False`. Stackroom's
own tool only searches.
"""
_OF_LAMBDA = "Used by Lambda itself:\n\n| action | on | for |\n|---|---|---|"
# By the action's service, and where it is said that Lambda needs it of the function's role.
_GUIDE = "https://docs.aws.amazon.com/lambda/latest/dg"
_SOURCES = {
    "dynamodb": f"[to read the stream]({_GUIDE}/services-dynamodb-eventsourcemapping.html)",
    "kms": "[to read the environment](https://repost.aws/knowledge-center/lambda-kmsaccessdeniedexception-errors)",
    "logs": f"[its log]({_GUIDE}/monitoring-cloudwatchlogs.html)",
    "sqs": f"[to read the queue]({_GUIDE}/services-sqs-configure.html)",
    "xray": f"[its traces]({_GUIDE}/services-xray.html)",
}
_A_TOOL = "the tool that came with it"
_ROW = re.compile(r"^\| `(?P<action>[a-z0-9-]+:\w+)` \| `(?P<resource>[^`]+)` \|")


def document(comparison: Comparison, agents: Comparison) -> str:
    return "\n".join([_of_functions(comparison), _of_agents(agents)])


def _of_functions(comparison: Comparison) -> str:
    told = _HEAD.format(
        calls=sum(map(comparison.calls, comparison.roles)),
        denied=len(comparison.denied),
        granted=len(comparison.uses),
        unused=sum(not is_on_purpose(each) for each in comparison.unused),
    )
    return "\n".join([told, *(_section(comparison, name) for name in sorted(comparison.roles))])


def _of_agents(comparison: Comparison) -> str:
    on_purpose = [each for each in comparison.unused if is_on_purpose(each)]
    told = _HEAD_OF_AGENTS.format(
        calls=sum(map(comparison.calls, comparison.roles)),
        denied=len(comparison.denied),
        granted=len(comparison.uses),
        unused=len(comparison.unused) - len(on_purpose),
        on_purpose=f"{len(on_purpose)} that is granted",
    )
    sections = [
        part
        for name, role in sorted(comparison.roles.items())
        for part in (_section(comparison, name), _by_lambda(role))
    ]
    return "\n".join([f"{_AGENTS}\n", told, *sections])


def _by_lambda(role: Role) -> str:
    rows = [
        f"| `{each.action}` | `{each.resource}` | {_SOURCES[each.action.partition(':')[0]]} |"
        for each in sorted(role.used_by_lambda)
    ]
    return "\n".join([_OF_LAMBDA, *rows, ""])


def documented(text: str) -> set[Grant]:
    """What the page says is granted to functions."""
    return set(_rows(text.partition(_AGENTS)[0]))


def documented_of_agents(text: str) -> set[Grant]:
    """What it says is granted to agents, Lambda's own share included."""
    return set(_rows(text.partition(_AGENTS)[2]))


def _rows(text: str) -> Iterator[Grant]:
    function = ""
    for line in text.splitlines():
        if line.startswith("## "):
            function = line.removeprefix("## ")
        elif found := _ROW.match(line):
            yield Grant(function, found["action"], found["resource"])


def _section(comparison: Comparison, function: str) -> str:
    uses = {each: use for each, use in comparison.uses.items() if each.function == function}
    if not uses:
        return f"## {function}\n\nIt calls nothing, and may call nothing.\n"
    rows = (_row(*each) for each in uses.items())
    head = "| action | on | calls | for |\n|---|---|---|---|"
    return "\n".join([f"## {function}\n", head, *rows, ""])


def _row(grant: Grant, use: Use) -> str:
    if use.calls:
        wanted_by = ", ".join(f"`{each}`" if each else _A_TOOL for each in _short(use.wanted_by))
    else:
        wanted_by = "nobody, on purpose" if is_on_purpose(grant) else "nobody"
    return f"| `{grant.action}` | `{grant.resource}` | {use.calls} | {wanted_by} |"


def _short(modules: Iterable[str]) -> list[str]:
    return sorted({each.removeprefix("stackroom.") for each in modules})
