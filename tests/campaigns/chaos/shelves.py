"""moto's bucket as the simulator reads it: sizes and ETags, and sidecars as they are."""

from collections.abc import Iterator
from typing import Any

from moto.s3.models import FakeDeleteMarker, s3_backends

from benchmarks.simulated_time.bedrock import ACCOUNT
from stackroom_local.simulator.sidecars import SUFFIX
from tests.aws.stores import BUCKET


class BucketShelves:
    def under(self, prefix: str) -> Iterator[tuple[str, int, str]]:
        keys = _keys()
        for key in sorted(each for each in keys if each.startswith(prefix)):
            found = _present(keys.get(key))
            if found is not None:
                yield key, found.contentsize, found.etag.strip('"')

    def find(self, key: str) -> tuple[int, str] | None:
        found = _present(_keys().get(key))
        return None if found is None else (found.contentsize, found.etag.strip('"'))

    def sidecar(self, key: str) -> tuple[bytes, str] | None:
        assert key.endswith(SUFFIX), "only sidecars are read"
        found = _present(_keys().get(key))
        return None if found is None else (found.value, found.etag.strip('"'))


def _keys() -> Any:
    return s3_backends[ACCOUNT]["aws"].buckets[BUCKET].keys


def _present(found: Any) -> Any:
    return None if isinstance(found, FakeDeleteMarker) else found
