"""
Prints the comparison as markdown: `make bench-constructs`. Nothing is deployed, and no package of
either function is bundled. The blueprint comes from PyPI into .cache, once.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from uv import find_uv_bin

from benchmarks.constructs import template

HERE = Path(__file__).parent
CACHE = HERE.parents[1] / ".cache" / "bench-constructs"
BLUEPRINT = "appmod-catalog-blueprints==1.17.0"
# Neither runs a container or fetches a package.
CONTEXT = {"stackroom:bundling": "none", "aws:cdk:bundling-stacks": []}

MISTAKES = {
    "no_id_and_no_creation": "a knowledge base without an id that isn't created",
    "id_and_creation": "an id, and creation as well",
    "one_id_twice": "two knowledge bases of one id",
    "blank_description": "a blank description",
    "negative_count": "-1 results",
    "count_over_100": "101 results (Bedrock's Retrieve takes 100)",
    "reserved_acl_field": "an ACL field of a name that Bedrock reserves",
    "no_such_filter": "a retrieval filter with an operator that there isn't",
    "no_such_store": "a vector store that there isn't",
    "3501_bytes": "over 3,500 bytes of configuration",
    "blank_name": "a blank name of the agent",
    "blank_prompt": "a blank prompt",
    "no_such_model": "a model id that can't be one",
    "tool_is_no_python": "a tool that is a text file",
    "prompt_is_4_kb": "over 4 KB of variables (Lambda refuses them)",
}


def main() -> None:
    theirs = _their_python()
    with tempfile.TemporaryDirectory() as folder:
        ours_made = _run(sys.executable, "ours.py", Path(folder) / "ours")
        theirs_made = _run(theirs, "theirs.py", Path(folder) / "theirs")
        _print_sizes(ours_made, theirs_made)
        _print_grants(ours_made, theirs_made)
    ours_said = json.loads(_output(sys.executable, "mistakes.py", "our_mistakes"))
    theirs_said = json.loads(_output(theirs, "mistakes.py", "their_mistakes"))
    _print_mistakes(ours_said, theirs_said)


def _their_python() -> str:
    python = CACHE / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(CACHE)], check=True)
    install = [find_uv_bin(), "pip", "install", "--quiet", "--python", str(python), BLUEPRINT]
    subprocess.run(install, check=True)
    return str(python)


def _run(python: str, script: str, outdir: Path) -> Path:
    _output(python, script, CDK_OUTDIR=str(outdir))
    return outdir / "librarian.template.json"


def _output(python: str, script: str, *arguments: str, **variables: str) -> str:
    silent = {"JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "20"}
    context = {"CDK_CONTEXT_JSON": json.dumps(CONTEXT)}
    run = subprocess.run(
        [python, str(HERE / script), *arguments],
        env={**os.environ, **silent, **context, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode != 0:
        sys.exit(f"{script} failed:\n{run.stderr}")
    return run.stdout


def _print_sizes(ours: Path, theirs: Path) -> None:
    print("| the same agent | Stackroom | the blueprint |\n|---|---|---|")
    lines = [
        len((HERE / f"{name}.py").read_text("utf-8").splitlines()) for name in ("ours", "theirs")
    ]
    print(f"| lines of the app | {lines[0]} | {lines[1]} |")
    here, there = template.resources(ours), template.resources(theirs)
    print(f"| resources | {here.total()} | {there.total()} |")
    for kind in sorted(here | there):
        print(f"| {kind} | {here[kind] or '-'} | {there[kind] or '-'} |")


def _print_grants(ours: Path, theirs: Path) -> None:
    here, there = set(template.grants(ours)), set(template.grants(theirs))
    print("\n| action | on | Stackroom | the blueprint |\n|---|---|---|---|")
    for action, resource in sorted(here | there):
        marks = ["yes" if (action, resource) in each else "-" for each in (here, there)]
        print(f"| {action} | `{resource}` | {marks[0]} | {marks[1]} |")
    wide = [sum("*" in action for action, _ in each) for each in (here, there)]
    print(f"| actions with a wildcard | | {wide[0]} | {wide[1]} |")


def _print_mistakes(ours: dict[str, str | None], theirs: dict[str, str | None]) -> None:
    print("\n| mistake | Stackroom | the blueprint |\n|---|---|---|")
    for name, told in MISTAKES.items():
        print(f"| {told} | {_verdict(ours[name])} | {_verdict(theirs[name])} |")
    refused = [sum(said is not None for said in each.values()) for each in (ours, theirs)]
    print(
        f"| refused at synth | {refused[0]} of {len(MISTAKES)} | {refused[1]} of {len(MISTAKES)} |"
    )


def _verdict(said: str | None) -> str:
    return "taken" if said is None else "refused"


if __name__ == "__main__":
    main()
