"""An agent's function loads the store that it is given, and none of the others."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

import pytest

from tests.agents.entries import ENTRIES

pytestmark = pytest.mark.processes

# Each store's adapter, and the packages that it is reached by. That of Retrieve is no more than
# boto3, which every agent has, and comes with the settings that all functions share.
OF_STORES: Mapping[str, set[str]] = {
    "MANAGED": set(),
    "S3_VECTORS_DIRECT": {"stackroom.aws.s3vectors.s3vectors_adapter"},
    "OPENSEARCH_SERVERLESS": {"stackroom_stores.opensearch.opensearch_adapter", "opensearchpy"},
    "PGVECTOR": {
        "stackroom_stores.pgvector.pgvector_adapter",
        "pgvector",
        "psycopg",
        "psycopg_pool",
    },
}
# What no store needs, but a cache of questions' vectors that is asked for by itself.
OF_NONE = {"redis"}
CODE = """
import json, sys
from stackroom_agents import registry
registry.from_environment()
print(json.dumps(sorted(sys.modules)))
"""


def modules_of(entries: Sequence[Mapping[str, object]]) -> set[str]:
    """Loaded by a fresh process that makes what an agent's function makes when it starts."""
    environment = {
        "PATH": os.environ["PATH"],
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "KNOWLEDGE_BASES_CONFIG": json.dumps(entries),
    }
    told = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, check=True, capture_output=True, text=True
    ).stdout
    return set(json.loads(told))


@pytest.mark.parametrize("stores", [[], ["PGVECTOR"]])
def test_an_agent_loads_its_own_store_and_no_other(stores: list[str]) -> None:
    own = set[str]().union(*(OF_STORES[store] for store in stores))
    others = set[str]().union(*OF_STORES.values(), OF_NONE) - own

    loaded = modules_of([ENTRIES[store] for store in stores])

    assert loaded >= own
    assert loaded & others == set()
