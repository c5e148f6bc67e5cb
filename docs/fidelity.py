"""Writes docs/fidelity.json, all rules and assumptions with sources, and a summary of it."""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import filter as matching
from pathlib import Path
from typing import Any

from bedrock_kb_simulator.omissions import DIFFERENCES, REFUSED
from bedrock_kb_simulator.rules import RULES
from docs.tables import table
from stackroom_cli.smoke.assumptions import ASSUMPTIONS
from stackroom_cli.smoke.smoke_run import STEPS

ROOT = Path(__file__).parents[1]
FIDELITY = ROOT / "docs" / "fidelity.md"
FIDELITY_DATA = ROOT / "docs" / "fidelity.json"
TESTS = ROOT / "simulator" / "tests"
_MARK = re.compile(r"\[assumed:\s+([a-z.-]+)\]")
_MARKED = ("src", "simulator", "functions", "infra", "statemachines")
_SOURCES = ("model", "quotas", "guide", "observed", "assumed")
# The contents of each area, by the first part of its rules' names.
AREAS = {
    "rate": "requests per second of each operation, and the burst",
    "request": "signatures, validation, client tokens, errors that any call can meet",
    "tags": "names of tags, and their changes",
    "knowledge-base": "creation, quota, the index it needs",
    "data-source": "creation, replacement, deletion and its failures",
    "converse": "turns, streams, guardrails, usage, caching, model errors",
    "tools": "tool definitions, uses and results in a conversation",
    "script": "scripted models",
    "guardrail": "versions, word and topic policies",
    "retrieve": "query, number of results, pages, reranking",
    "job": "ingestion jobs: limits, phases, statistics, delays",
    "document": "direct ingestion: statuses, limits, conflicts, durations",
    "file": "formats and sizes",
    "sidecar": "`.metadata.json` files",
    "metadata": "sizes and number of attributes",
    "chunk": "chunking strategies and their limits",
    "parse": "pages and images without text",
    "managed": "managed knowledge bases: connectors, jobs, rates, filters",
    "filter": "operators and nesting in Retrieve's filters",
    "rerank": "the Rerank operation and reranking models",
    "vector-bucket": "vector buckets and their policies",
    "index": "vector indexes",
    "vector": "stored vectors and their metadata",
    "vectors": "listing vectors",
    "query": "QueryVectors: by meaning, by text, fused",
    "vector-filter": "operators and values in S3 Vectors' filters",
    "text-search": "making an index searchable by words",
    "textract": "DetectDocumentText: formats, sizes, errors",
}

_HEAD = """# How far to trust the simulator

[bedrock-kb-simulator](../simulator/README.md) stands in for Amazon Bedrock Knowledge Bases and S3
Vectors. This page says what of its behaviour comes from AWS, what is assumed, and what is missing.
`make docs` writes it, and [fidelity.json](fidelity.json) with all details.

The simulator enforces {rules} rules: limits, delays, statuses, error texts. Each has a source, and
a test that fails when the simulator breaks it. {assumed} rest on assumptions alone, {partly} more
in part, often for the text of an error. **None has been compared with a live AWS account yet**;
`stackroom doctor --smoke` checks in your account what
[Stackroom assumes of AWS](#what-stackroom-assumes-of-aws).

## Look up a rule

```sh
jq '.rules[] | select(.name == "job.per-account")' docs/fidelity.json
jq -r '.rules[] | select(.source | test("assumed")) | "\\(.name): \\(.holds)"' docs/fidelity.json
```

- `rules`: the simulator's rules. Each has a `name`, what `holds`, its `source`, the service's
  `answer` where it refuses, and the tests that it is `held_by`.
- `assumptions`: what Stackroom assumes of AWS, `where` its code does, the `evidence`, what `breaks`
  if it is wrong, what to `do` then, and the `step` of the smoke test that settles it.
- `steps`: the steps of the smoke test.
- `refused` and `differences`: what the simulator leaves out.

A source names one or more of:

- *model*: botocore's service model.
- *quotas*: the AWS General Reference page "Amazon Bedrock endpoints and quotas".
- *guide*: the user guide of Bedrock or S3 Vectors.
- *observed*: reports by users of the real service.
- *assumed*: our choice, where no source says anything.

## Rules by area

The area is the first part of a rule's name; *assumed* counts the rules that rest on assumptions, in
whole or in part.

"""
_MANAGED = """
For managed knowledge bases, *guide* and *quotas* were read in October and November 2026 (the
`kb-managed-*` pages and kb-managed-quotas), and *observed* is what half a dozen users have reported
since June 2026. `bedrock-kb-simulator --custom-documents-tell` reverses one of two assumptions.

## What Stackroom assumes of AWS

Stackroom's own code relies on these, though AWS doesn't document them or users have seen otherwise.
`stackroom doctor --smoke` reports each as confirmed, refuted (with what to do) or not seen. Against
the simulator it confirms only what the simulator enforces. [sign-in.md](sign-in.md) lists what is
assumed of the gateway and of signing in.

"""
_REFUSED = """
## What the simulator leaves out

It refuses these, with an error that names them (rule `request.not-simulated`):

"""
_DIFFERENCES = """
It replaces these:

"""


def fidelity_data() -> str:
    """The text of docs/fidelity.json."""
    marked = marks()
    content = {
        "rules": _rules(),
        "assumptions": [
            {
                "name": name,
                "assumed": each.believed,
                "where": marked[name],
                "evidence": each.evidence,
                "breaks": each.breaks,
                "do": each.do,
                "step": each.step,
            }
            for name, each in ASSUMPTIONS.items()
        ],
        "steps": {each.name: each.does for each in STEPS},
        "refused": REFUSED,
        "differences": DIFFERENCES,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def fidelity() -> str:
    """The text of docs/fidelity.md."""
    sources = [_sources(rule.source) for rule in RULES.values()]
    assumed = sum(each == ["assumed"] for each in sources)
    head = _HEAD.replace("{rules}", str(len(sources))).replace("{assumed}", str(assumed))
    return "".join(
        (
            head.replace("{partly}", str(sum("assumed" in each for each in sources) - assumed)),
            table(("area", "what it covers", "rules", "assumed"), _areas()),
            _MANAGED,
            table(("name", "what is assumed"), _assumed()),
            _REFUSED,
            "".join(f"- {each}\n" for each in REFUSED),
            _DIFFERENCES,
            table(("of AWS", "in the simulator"), DIFFERENCES.items()),
        )
    )


def marks() -> Mapping[str, Sequence[str]]:
    """The files that have a mark, by the name in it."""
    found: dict[str, list[str]] = {}
    for path in sorted(each for folder in _MARKED for each in (ROOT / folder).rglob("*.py")):
        for name in _MARK.findall(path.read_text("utf-8")):
            found.setdefault(name, []).append(path.relative_to(ROOT).as_posix())
    return found


def _rules() -> list[Mapping[str, Any]]:
    held, folder = holders(), TESTS.relative_to(ROOT).as_posix()
    return [
        {
            "name": rule.name,
            "holds": rule.says,
            "source": rule.source,
            "answer": rule.message,
            "held_by": [f"{folder}/{file}::{test}" for file, test in held[rule.name]],
        }
        for rule in RULES.values()
    ]


def _areas() -> Iterator[tuple[str, ...]]:
    sources: dict[str, list[str]] = {area: [] for area in AREAS}
    for rule in RULES.values():
        sources[rule.name.partition(".")[0]].append(rule.source)
    for area, covers in AREAS.items():
        assumed = sum("assumed" in _sources(source) for source in sources[area])
        yield f"`{area}`", covers, str(len(sources[area])), str(assumed)


def _assumed() -> Iterator[tuple[str, ...]]:
    for name, each in ASSUMPTIONS.items():
        yield f"`{name}`", each.believed


def _sources(text: str) -> list[str]:
    return [each for each in _SOURCES if each in text]


def holders() -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return file and name of the tests that mark each rule, maybe none, by rule."""
    found: dict[str, list[tuple[str, str]]] = {name: [] for name in RULES}
    for path in sorted(TESTS.glob("test_*.py")):
        for test, pattern in _claims(ast.parse(path.read_text("utf-8"))):
            for name in matching(found, pattern):
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
