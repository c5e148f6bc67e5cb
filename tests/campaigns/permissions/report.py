"""docs/permissions.md, from the comparison of recorded calls with rights."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from docs.tables import table
from tests.campaigns.permissions.roles import Comparison, Grant, Role, Use, is_on_purpose

DOCUMENT = Path(__file__).parents[3] / "docs" / "permissions.md"
_HEAD = """\
# Least privilege

This page lists every right of every function, by resource, and in parentheses the modules that used
it (names without `stackroom.`). `make permissions` writes it: it has each function do all that it
does, in a running local mode and, for rare events, in simulated time, records each AWS call, and
checks the calls against the policies of the synthesised roles and of both buckets. Of {calls}
calls, {denied} were not allowed; of {granted} rights, {unused} were not used, apart from the agent
runner's right to ask a model without a stream, which is for models that can't use tools in one.

The tables leave out what Lambda itself does with a function's role: write its log and traces, and
read its queue. A call needs more than one right where AWS asks for more: a look at a missing object
also needs `s3:ListBucket`, or S3 answers 403; a transaction needs the rights of its items; a link
needs the right of its signer.

`opensearch-retrieve`, which [a stack of its own](opensearch.md) deploys, is not listed:
it may `aoss:APIAccessAll` and `bedrock:InvokeModel`.
"""
# Where the page goes on with agents.
_AGENTS = "# Agents"
_GUIDE = "https://docs.aws.amazon.com/lambda/latest/dg"
_HEAD_OF_AGENTS = f"""\
The same for three agents by `BatchAgent` (tests/campaigns/permissions/agent_stack.py). Each handler
runs in a process of its own, with the environment and the role of its template. `clerk` has two
knowledge bases (one with a guardrail, one that distinguishes groups), a tool and documents in S3
with rights that the app states, a queue of questions and one of answers; `librarian` has only the
knowledge bases. Of {{calls}} calls, {{denied}} were not allowed; of {{granted}} rights, {{unused}}
were not used, apart from {{on_purpose}} granted on purpose: the clerk's knowledge bases grant
`bedrock:RetrieveAndGenerate` by default, for an app's own tools that have answers written; the
librarian's leave it out with `generation=False`. Stackroom's own tool only searches.

Lambda itself uses an agent's role to write [logs]({_GUIDE}/monitoring-cloudwatchlogs.html) and
[traces]({_GUIDE}/services-xray.html), to read the [queue]({_GUIDE}/services-sqs-configure.html) or
the [stream]({_GUIDE}/services-dynamodb-eventsourcemapping.html), and to decrypt the
[environment](https://repost.aws/knowledge-center/lambda-kmsaccessdeniedexception-errors).
"""
_A_TOOL = "its own tool"
_ROW = re.compile(r"^\| `(?P<resource>[^`]+)` \| (?P<rights>.+) \|$")
_ACTION = re.compile(r"`([a-z0-9-]+:\w+)`")


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
        on_purpose=len(on_purpose),
    )
    sections = [
        part
        for name, role in sorted(comparison.roles.items())
        for part in (_section(comparison, name), _by_lambda(role))
    ]
    return "\n".join([f"{_AGENTS}\n", told, *sections])


def _by_lambda(role: Role) -> str:
    rights = _table((each.resource, f"`{each.action}`") for each in sorted(role.used_by_lambda))
    return f"Lambda itself:\n\n{rights}"


def documented(text: str) -> set[Grant]:
    """Return the grants to functions on the page."""
    return set(_rows(text.partition(_AGENTS)[0]))


def documented_of_agents(text: str) -> set[Grant]:
    """Return the grants to agents on the page, Lambda's own share included."""
    return set(_rows(text.partition(_AGENTS)[2]))


def _rows(text: str) -> Iterator[Grant]:
    function = ""
    for line in text.splitlines():
        if line.startswith("## "):
            function = line.removeprefix("## ")
        elif found := _ROW.match(line):
            for action in _ACTION.findall(found["rights"]):
                yield Grant(function, action, found["resource"])


def _section(comparison: Comparison, function: str) -> str:
    uses = {each: use for each, use in comparison.uses.items() if each.function == function}
    if not uses:
        return f"## {function}\n\nIt has no rights, and makes no calls.\n"
    rights = _table((grant.resource, _right(grant, use)) for grant, use in uses.items())
    return f"## {function}\n\n{rights}"


def _table(rights: Iterable[tuple[str, str]]) -> str:
    by_resource: dict[str, list[str]] = {}
    for resource, right in rights:
        by_resource.setdefault(resource, []).append(right)
    rows = ((f"`{resource}`", ", ".join(found)) for resource, found in by_resource.items())
    return table(("resource", "actions"), rows)


def _right(grant: Grant, use: Use) -> str:
    if use.calls:
        used_by = ", ".join(f"`{each}`" if each else _A_TOOL for each in _short(use.wanted_by))
    else:
        used_by = "unused on purpose" if is_on_purpose(grant) else "unused"
    return f"`{grant.action}` ({used_by})"


def _short(modules: Iterable[str]) -> list[str]:
    return sorted({each.removeprefix("stackroom.") for each in modules})
