"""What doctor says of questions' vectors."""

import json
from pathlib import Path

import pytest

from stackroom_local.cli.embedding_checkup import embeddings
from stackroom_local.gateway.configuration import (
    FunctionConfiguration,
    GatewayConfiguration,
    TargetConfiguration,
)
from stackroom_local.state import Instance
from tests.local.running import an_instance
from tests.valkey import valkey_server


@pytest.fixture
def instance(tmp_path: Path) -> Instance:
    (tmp_path / "gateway" / "logs").mkdir(parents=True)
    return an_instance(tmp_path)


def configured(instance: Instance, **environment: str) -> None:
    function = FunctionConfiguration(
        name="docs-retrieve", handler="handler", environment=environment
    )
    target = TargetConfiguration(name="knowledge", target_id="1", function=function, tools=[])
    gateway = GatewayConfiguration(
        gateway_id="docs", allowed_client_ids=["1"], issuer_url="http://127.0.0.1", targets=[target]
    )
    (instance.state_dir / "gateway.json").write_text(gateway.model_dump_json(), "utf-8")


def logged(instance: Instance, *lines: str) -> None:
    log = instance.state_dir / "gateway" / "logs" / "docs-retrieve.log"
    log.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def counted(hits: float, misses: float) -> str:
    return json.dumps({"EmbeddingCacheHits": [hits], "EmbeddingCacheMisses": [misses]})


def test_how_many_had_been_asked_before_is_what_the_functions_counted(instance: Instance) -> None:
    configured(instance)
    logged(
        instance,
        counted(0.0, 1.0),
        '{"message": "retrieved"}',
        "EmbeddingCacheHits in a line that is no JSON",
        '["EmbeddingCacheHits"]',
        counted(2.0, 1.0),
    )

    told = "2 of 4 questions had been asked before (50%): not embedded"
    assert list(embeddings(instance)) == [(True, told)]


@pytest.mark.processes
def test_a_redis_is_asked_whether_it_is_there(instance: Instance) -> None:
    with valkey_server() as server:
        where = f"the Valkey or Redis at 127.0.0.1:{server.port}"
        configured(instance, REDIS_URL=server.connection_url)
        [unasked, up] = embeddings(instance)
    [_, down] = embeddings(instance)

    assert unasked == (True, "no question was embedded yet")
    assert up == (True, f"{where} answers")
    assert down[0] is False
    assert down[1].startswith(f"{where} does not answer, so every question is embedded anew")
