"""The run in a real local mode: every scene, with each call of each function's process recorded."""

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from stackroom_local.function_processes import process_hook
from stackroom_local.project_files import task_root
from stackroom_local.state import ACCOUNT, REGION, Instance
from tests.campaigns.permissions import aws_call_recorder
from tests.campaigns.permissions.aws_call_recorder import VARIABLE
from tests.campaigns.permissions.needs import Line, Names
from tests.campaigns.permissions.scenes import SCENES
from tests.e2e.people import Person
from tests.local.running import local_mode

_CALLS = "calls"
# As the templates of the default deployment name it (tests/infra/assembly.py).
INDEX = "bucket/stackroom-vectors-{account}-{region}/index/Index1"


def run(
    tell: Callable[[str], object],
    scenes: Sequence[Callable[[Person], None]] = SCENES,
    *options: str,
) -> tuple[list[Line], Names]:
    """
    A local mode of its own, started with these options; what its functions called, and what things
    are called in it.
    """
    with tempfile.TemporaryDirectory() as folder, recording(Path(folder)) as calls:
        with local_mode(Path(folder, "state"), *options) as instance:
            person = Person(instance, "grace")
            for scene in scenes:
                tell(f"{scene.__name__.replace('_', ' ')}")
                scene(person)
            names = names_of(instance)
        return list(lines_in(calls)), names


@contextmanager
def recording(folder: Path) -> Iterator[Path]:
    """Record the calls of each local mode that is started within."""
    calls = folder / _CALLS
    calls.mkdir()
    variables = {
        VARIABLE: str(calls),
        process_hook.VARIABLE: aws_call_recorder.__name__,
        "PYTHONPATH": str(task_root()),  # where each process finds that module
    }
    with patch.dict(os.environ, variables):
        yield calls


def calls_of(instance: Instance) -> Path:
    """
    Return the folder with the calls of a local mode, whose state directory is in the recording's
    folder.
    """
    return instance.state_dir.parent / _CALLS


def lines_in(calls: Path) -> Iterator[Line]:
    for file in sorted(calls.glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            yield json.loads(line)


def names_of(instance: Instance) -> Names:
    """
    Return the names of a local mode; in a larger pool, all members are granted as the first is.
    """
    agent = instance.client("bedrock-agent")
    pool = agent.list_knowledge_bases()["knowledgeBaseSummaries"]
    others = {each["knowledgeBaseId"]: "KnowledgeBase1" for each in pool}
    for each in pool:
        found = agent.get_knowledge_base(knowledgeBaseId=each["knowledgeBaseId"])["knowledgeBase"]
        if storage := found.get("storageConfiguration"):
            index = storage["s3VectorsConfiguration"]["indexArn"].rpartition(":")[2]
            others[index] = INDEX
    others |= _secrets(instance)
    return Names(account=ACCOUNT, region=REGION, others=others)


def _secrets(instance: Instance) -> dict[str, str]:
    """CloudFormation names them at random, and says in a tag what the template calls them."""
    kept = instance.client("secretsmanager").list_secrets()["SecretList"]
    tags = {each["Name"]: {tag["Key"]: tag["Value"] for tag in each["Tags"]} for each in kept}
    return {name: of_it["aws:cloudformation:logical-id"] for name, of_it in tags.items()}
