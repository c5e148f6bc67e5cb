"""
docs/fidelity.md: every rule of the simulator, where it comes from, and what holds it; and what the
product believes of AWS.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import filter as matching
from pathlib import Path
from typing import Any

from bedrock_kb_simulator.faults import BY_CHANCE, DOCUMENTS_BY_CHANCE
from bedrock_kb_simulator.omissions import OMISSIONS
from bedrock_kb_simulator.rules import RULES
from stackroom_local.cli.smoke.assumptions import ASSUMPTIONS
from stackroom_local.cli.smoke.smoke_run import STEPS
from tests.opensearch.rules import RULES as OPENSEARCH_RULES

ROOT = Path(__file__).parents[1]
FIDELITY = ROOT / "docs" / "fidelity.md"
TESTS = ROOT / "simulator" / "tests"
OPENSEARCH_TESTS = ROOT / "tests" / "opensearch"
_MARK = re.compile(r"\[assumed:\s+([a-z.-]+)\]")
_MARKED = ("src", "simulator", "functions", "infra", "statemachines")

_HEAD = """# What the simulator enforces

[bedrock-kb-simulator](../simulator/README.md) is a product of its own, and this page is what it
simulates, with the source of each rule, and what it [leaves out](#what-it-leaves-out).

Made by `make docs` from simulator/src/bedrock_kb_simulator/rules and from the tests that say which
rules they hold (simulator/tests). Sources: *model* is the botocore service model, *quotas* the AWS
General Reference page "Amazon Bedrock endpoints and quotas", *guide* the Bedrock, S3 Vectors or
OpenSearch Serverless user guide, *observed* what users of the real service reported, *assumed* our
choice where nothing says. What is assumed of the gateway and of signing in stands in
[sign-in.md](sign-in.md#what-of-this-is-assumed).

"""
_ASSUMED = """
## What the product believes of AWS

What Stackroom's own code relies on, and AWS doesn't say, or users saw otherwise. Where it does, a
comment has a mark, `[assumed: name]`; the table is made of these and of
src/stackroom_local/cli/smoke/assumptions.py. `stackroom doctor --smoke` tells of each whether it
holds where it runs: confirmed, refuted, with what to do, or not seen. Here it confirms what the
simulator enforces, and proves the steps; nothing of it was tried in an account of our own yet.

"""
_MANAGED = """
## Managed knowledge bases

Rules `managed.*`. *guide* is there the pages kb-build-managed, kb-managed-create,
kb-managed-connect-ds, kb-managed-ds-s3, kb-managed-ds-custom, kb-managed-customize-ingestion,
kb-test-config and kb-test-retrieve of the Bedrock user guide, *quotas* its page kb-managed-quotas
and the rows "(Managed Knowledge Bases)" of the General Reference, read in October and November
2026; *observed* is what half a dozen users wrote down of real accounts since June 2026. Nothing was
tried in an account of our own. Two assumptions are options of
`bedrock-kb-simulator`: `--managed-jobs-in-account` counts their jobs among the 5 of an account,
and with `--unrated-managed-starts` StartIngestionJob has no rate for them.

What AWS leaves open, and what is assumed here:

"""
_FAULTS = """
## What can go wrong

`stackroom up --faults SEED[:RATE]` lets calls fail by chance, the same calls for the same seed;
`/_simulator/faults` at the simulator takes orders (`POST {"faults": [{"operation":
"StartIngestionJob", "kind": "lost", "times": 2}]}`), says what was injected (`GET`) and makes an
end of it (`DELETE`). In a local mode they are signed with the keys of `stackroom env --operator`,
as every call is. On request any call can meet any kind but `busy`, which has a text only where
it stands here, and `quota`, which only CreateDataSource and StartIngestionJob have. `lost` and
`dropped` come after the effect: the one answers 503, the other not at all. `failed` and `refused`
are of documents: such a job reads COMPLETE all the same. `late`, on request only, is of documents
and data sources: they are done, and read IN_PROGRESS or CREATING for some `seconds` more. What a
live user measured is of documents, too: for some `seconds` GetKnowledgeBaseDocuments doesn't know
one that was accepted (`unseen`), or a search misses one that was just indexed (`missed`); and a
direct request takes ten times as long (`slow`).

"""
_SCRIPTS = """
## What a model says

`/_simulator/scripts` at the simulator takes scripts for models: `POST {"scripts": [{"model":
"anthropic.claude-3-haiku-20240307-v1:0", "turns": [{"uses": [{"name": "search", "input": {"query":
"{{question}}"}}]}, {"text": "Every {{hours}} hours.", "quotes": {"hours": "every (\\\\d+)
hours"}}]}]}`; `GET` says how many turns of each were spoken, `DELETE` makes an end of them, as a
restart does. A turn has a `text`, `uses` of tools, or both, and may have another `stop` than its
own: max_tokens, stop_sequence or content_filtered. `model` is the id as requests name it, or the
last part of their ARN; where `where` is given, it must stand in the prompt or the messages; the
latest script that fits counts. Which turn is next follows from the request alone: it is the one
after as many as the conversation has of the model's. So conversations don't disturb each other,
and a request that is repeated is answered alike. `{{question}}` in a text, or in an input, is
replaced by the user's last words, `{{name}}` by what the regular expression `quotes.name` finds in
the tools' results, the latest first: its first group, or all of it.

Without a script, a model is the configured OpenAI-compatible endpoint, and without that the
stand-in, which extracts its answer and says so.

"""
_OPENSEARCH = """
## OpenSearch Serverless

A collection of OpenSearch Serverless is no part of the simulator. Tests have a stand-in for one
(tests/opensearch), which checks what a client can get wrong: the signature, the data access policy,
the form of a query.

"""
_OMITTED = """
## What it leaves out

"""


def fidelity() -> str:
    held, held_there = holders(), holders(OPENSEARCH_RULES, OPENSEARCH_TESTS)
    rules = (
        (f"`{rule.name}`", rule.says, rule.source, rule.message, _links(held[rule.name]))
        for rule in RULES.values()
    )
    faults = (
        (f"`{operation}`", ", ".join((*kinds, *DOCUMENTS_BY_CHANCE.get(operation, ()))))
        for operation, kinds in BY_CHANCE.items()
    )
    omissions = ((what, why) for what, why in OMISSIONS.items())
    return "".join(
        (
            _HEAD,
            _table(("rule", "what holds", "source", "answer", "held by"), rules),
            _ASSUMED,
            _table(
                (
                    "name",
                    "what is believed",
                    "where",
                    "evidence",
                    "what breaks if it is wrong",
                    "step of the smoke",
                ),
                _believed(),
            ),
            "\nThe steps, in their order:\n\n",
            _table(("step", "what it does"), ((f"`{each.name}`", each.does) for each in STEPS)),
            _MANAGED,
            _table(("rule", "what holds", "source"), _left_open("managed.")),
            _FAULTS,
            _table(("operation", "by chance"), faults),
            _SCRIPTS,
            _OPENSEARCH,
            _table(
                ("rule", "what holds", "source", "answer", "held by"),
                (
                    (
                        f"`{rule.name}`",
                        rule.says,
                        rule.source,
                        rule.message,
                        _links(held_there[rule.name], OPENSEARCH_TESTS),
                    )
                    for rule in OPENSEARCH_RULES.values()
                ),
            ),
            _OMITTED,
            _table(("of AWS", "here"), omissions),
        )
    )


def marks() -> Mapping[str, Sequence[str]]:
    """By the name in a mark, the files that have it."""
    found: dict[str, list[str]] = {}
    for path in sorted(each for folder in _MARKED for each in (ROOT / folder).rglob("*.py")):
        for name in _MARK.findall(path.read_text("utf-8")):
            found.setdefault(name, []).append(path.relative_to(ROOT).as_posix())
    return found


def _believed() -> Iterator[tuple[str, ...]]:
    marked = marks()
    for name, each in ASSUMPTIONS.items():
        where = " · ".join(f"[{path}](../{path})" for path in marked[name])
        yield f"`{name}`", each.believed, where, each.evidence, each.breaks, f"`{each.step}`"


def _left_open(prefix: str) -> Iterator[tuple[str, str, str]]:
    """Of rules named so, those of which something is assumed."""
    for rule in RULES.values():
        if rule.name.startswith(prefix) and "assumed" in rule.source:
            yield f"`{rule.name}`", rule.says, rule.source


def holders(
    rules: Mapping[str, Any] = RULES, tests: Path = TESTS
) -> Mapping[str, Sequence[tuple[str, str]]]:
    """For each rule, file and name of the tests that say they hold it; none is an empty list."""
    found: dict[str, list[tuple[str, str]]] = {name: [] for name in rules}
    for path in sorted(tests.glob("test_*.py")):
        for test, pattern in _claims(ast.parse(path.read_text("utf-8"))):
            for name in matching(rules, pattern):
                found[name].append((path.name, test))
    return found


def _claims(module: ast.Module) -> Iterator[tuple[str, str]]:
    """Tests and what their `@holds(...)` names."""
    for test in module.body:
        if isinstance(test, ast.FunctionDef):
            for mark in test.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "holds":
                    for pattern in mark.args:
                        yield test.name, ast.literal_eval(pattern)


def _links(tests: Sequence[tuple[str, str]], folder: Path = TESTS) -> str:
    at = folder.relative_to(ROOT).as_posix()
    return " · ".join(f"[{test}](../{at}/{name})" for name, test in tests)


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join("| " + " | ".join(map(_cell, cells)) + " |\n" for cells in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
