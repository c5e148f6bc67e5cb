"""The script that speaks to S3 Vectors as AWS's guide does runs here unmodified."""

import os
import subprocess
import sys
from pathlib import Path

from tests.simulator.world import World

SCRIPT = Path(__file__).parents[2] / "examples" / "s3_vectors_search.py"


def test_the_guides_steps_find_the_same_in_a_new_index_and_in_an_old_one(world: World) -> None:
    endpoints = {
        f"AWS_ENDPOINT_URL_{service}": world.endpoint
        for service in ("S3VECTORS", "BEDROCK_RUNTIME")
    }
    before = _buckets(world)

    ran = subprocess.run(
        [sys.executable, str(SCRIPT)],
        env={**os.environ, **endpoints},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert ran.returncode == 0, ran.stderr
    new, old = ran.stdout.split("an index that got it later")
    assert _keys(new) == _keys(old)
    by_words = new.partition("by words")[2].partition("by both")[0]
    assert _keys(by_words) == ["printer"]
    by_both = new.partition("by both")[2]
    assert _keys(by_both) == ["printer", "scanner"]
    assert _buckets(world) == before


def _keys(printed: str) -> list[str]:
    return [line.split()[0] for line in printed.splitlines() if line.startswith("    ")]


def _buckets(world: World) -> set[str]:
    listed = world.s3vectors.list_vector_buckets(prefix="s3-vectors-search-")["vectorBuckets"]
    return {bucket["vectorBucketName"] for bucket in listed}
