"""doctor's look at questions' vectors: how often they were there, and whether Redis answers."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from stackroom_local.gateway.configuration import FunctionConfiguration, GatewayConfiguration
from stackroom_local.state import Instance

_HITS, _MISSES = "EmbeddingCacheHits", "EmbeddingCacheMisses"
# More than a question waits: it is whether there is a Redis at all that somebody wants to know.
_LONGEST = 2.0

Told = tuple[bool, str]  # whether it is well, and what it is


def embeddings(instance: Instance) -> Iterator[Told]:
    """Nothing of a local mode that has no gateway yet."""
    functions = _functions(instance.state_dir / "gateway.json")
    if not functions:
        return
    logs = [instance.state_dir / "gateway" / "logs" / f"{each.name}.log" for each in functions]
    yield True, _counted(logs)
    urls = {each.environment.get("REDIS_URL") for each in functions} - {None, ""}
    for url in sorted(filter(None, urls)):
        yield _answering(url)


def _functions(written: Path) -> list[FunctionConfiguration]:
    if not written.exists():
        return []
    targets = GatewayConfiguration.model_validate_json(written.read_bytes()).targets
    return [each.function for each in targets]


def _counted(logs: list[Path]) -> str:
    hits, misses = (sum(_sum(log, name) for log in logs) for name in (_HITS, _MISSES))
    if not hits + misses:
        return "no question was embedded yet"
    share = hits / (hits + misses)
    return f"{hits} of {hits + misses} questions had been asked before ({share:.0%}): not embedded"


def _sum(log: Path, name: str) -> int:
    """Of what a function counted under this name, a line of JSON each time."""
    counted = 0
    with suppress(FileNotFoundError), log.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if name in line:
                with suppress(ValueError, KeyError, TypeError):
                    counted += int(sum(json.loads(line)[name]))
    return counted


def _answering(url: str) -> Told:
    # Imported where there is one alone: it takes its time.
    from stackroom.aws.redis.embedding_cache import RedisEmbeddingCache  # noqa: PLC0415 - see above

    parts = urlsplit(url)
    where = f"the Valkey or Redis at {parts.hostname}:{parts.port or 6379}"
    if RedisEmbeddingCache(url, longest=_LONGEST).answers():
        return True, f"{where} answers"
    return False, (
        f"{where} does not answer, so every question is embedded anew; start it, or start without"
        " --context redis_url"
    )
