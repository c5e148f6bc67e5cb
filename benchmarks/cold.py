"""
Measures the import time of each function's handler, compared with `import boto3` and one client.

    make bench-cold

Each figure is the best of several fresh interpreters, importing from the function's own bundle (the
zip that is deployed, built for the Python that runs this, with byte code). Sizes are of that
zip. Only an agent's function imports Strands Agents, so that is timed for comparison.
"""

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from infra.bundling import (
    CACHED,
    CONSOLE,
    CORE,
    IDENTITY,
    INSPECT,
    OPENSEARCH,
    RUNNER,
    SERVICES,
    Group,
)
from stackroom_constructs import bundling

ROOT = Path(__file__).parents[1]
AIM = 1.5
RUNS = 9
FUNCTIONS = {
    "upload_handler": CORE,
    "inspect": INSPECT,
    "ingest": CORE,
    "status_poller": CORE,
    "reconciler": CORE,
    "retrieve": CORE,
    "retrieve_with_redis": CACHED,
    "catalog_tools": CORE,
    "event_publisher": CORE,
    "webhook_sender": CORE,
    "identity_interceptor": IDENTITY,
    "console": CONSOLE,
    "opensearch_retrieve": OPENSEARCH,
    "agent_runner": RUNNER,
    "batch_agent": RUNNER,  # which stackroom_constructs bundles with the same packages
}
LARGE = (CONSOLE, OPENSEARCH, RUNNER)  # without an aim, since they need large packages
# The groups of all others by name; the first question imports Redis.
HANDLERS = {
    "batch_agent": "stackroom_agents.batch_handler",
    "retrieve_with_redis": "functions.retrieve.handler, stackroom.aws.redis.embedding_cache",
}
BASELINE = "import boto3; boto3.session.Session().client('dynamodb', region_name='us-east-1')"
# The modules that an agent needs to start.
STRANDS = "import strands, strands.models.bedrock"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        bundles = {each.name: bundle(each, Path(folder)) for each in set(FUNCTIONS.values())}
        took = best(bundles)
        baseline = took.pop(BASELINE)
        print(f"import boto3 + one client   {baseline * 1000:6.0f} ms")
        strands = took.pop(STRANDS)
        print(f"import Strands Agents       {strands * 1000:6.0f} ms   {strands / baseline:4.2f} x")
        for name, seconds in took.items():
            aim = "" if FUNCTIONS[name] in LARGE else f" (aim {AIM})"
            print(
                f"{name:27} {seconds * 1000:6.0f} ms   {seconds / baseline:4.2f} x{aim:10}"
                f"   zip {zipped(bundles[FUNCTIONS[name].name]) / 1e6:5.1f} MB"
            )
    print("A handler makes its clients at its first call; they are not in these figures.")


def bundle(group: Group, folder: Path) -> Path:
    """Unpack the group's zip, built for this interpreter because Lambda's would not run here."""
    target = folder / group.name
    target.mkdir()
    group.bundle().write(target, with_dependencies=False)
    pins = folder / f"{group.name}.txt"
    uv = [str(Path(sys.executable).with_name("uv")), "pip"]
    wanted = folder / f"{group.name}.in"
    wanted.write_text("\n".join(bundling.requirements(group.extras)) + "\n", "utf-8")
    compile_ = ["compile", str(wanted), "--constraint", "requirements.lock"]
    run(*uv, *compile_, "--quiet", "-o", str(pins))
    run(*uv, "install", "--quiet", "--target", str(target), "-r", str(pins))
    bundling.prune(target, SERVICES)
    run(sys.executable, "-m", "compileall", "-q", str(target))
    return target


def best(bundles: dict[str, Path]) -> dict[str, float]:
    """Return seconds by function, measured in turns so that a slow moment affects all."""
    handlers = {name: HANDLERS.get(name, f"functions.{name}.handler") for name in FUNCTIONS}
    codes = {name: f"import {handler}" for name, handler in handlers.items()}
    roots = {name: bundles[group.name] for name, group in FUNCTIONS.items()}
    everything = {
        BASELINE: (BASELINE, bundles[CORE.name]),
        STRANDS: (STRANDS, bundles[RUNNER.name]),
    }
    everything |= {name: (codes[name], roots[name]) for name in FUNCTIONS}
    rounds = [{name: seconds(*each) for name, each in everything.items()} for _ in range(RUNS)]
    return {name: min(each[name] for each in rounds) for name in everything}


def seconds(code: str, root: Path) -> float:
    timed = f"import time; t = time.perf_counter(); {code}; print(time.perf_counter() - t)"
    command = [
        sys.executable,
        "-I",
        "-c",
        f"import sys; sys.path.insert(0, {str(root)!r}); {timed}",
    ]
    return float(run(*command).strip())


def zipped(root: Path) -> int:
    with tempfile.TemporaryDirectory() as folder:
        archive = shutil.make_archive(str(Path(folder) / "function"), "zip", root)
        assert zipfile.is_zipfile(archive), "what make_archive makes is a zip"
        return Path(archive).stat().st_size


def run(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, text=True, capture_output=True).stdout


if __name__ == "__main__":
    main()
