import os
import subprocess
import sys
from pathlib import Path

import aws_cdk as cdk
import pytest

from infra.bundling import ROOT
from infra.deployment import Deployment
from tests.infra.assembly import Assembly

RIGHT: dict[str, object] = {
    "project": "stackroom",
    "knowledge_base_pool_size": 1,
    "knowledge_base_type": "vector",
    "catalog_data_sources": "custom",
    "admission_jobs": 5,
    "admission_direct_calls": 10,
    "admission_seconds_between_starts": 10,
    "answer_model": "eu.amazon.nova-lite-v1:0",
    "answer_via": "converse",
    "answer_prompt_file": "",
    "guardrail_id": "",
    "guardrail_version": "",
    "retrieve_least_score": "",
    "retrieve_max_tokens": 4000,
    "retrieve_prioritize_by": "similarity",
    "rerank_model": "",
    "retrieve_via": "s3vectors",
    "retrieve_sharing": "off",
    "redis_url": "",
    "redis_subnet_ids": "",
    "redis_security_group_ids": "",
    "callback_urls": "",
    "search_language": "en",
    "chunking": "",
    "chunk_tokens": "",
    "chunk_overlap": "",
    "parsing": "default",
    "parsing_model": "",
    "prewarm_minutes": 0,
    "console": "on",
    "console_domain": "",
    "console_certificate_arn": "",
    "agent_models": "",
    "shared_knowledge_bases_file": "",
    "upload_origins": "",
    "bundling": "none",
}
CERTIFICATE = "arn:aws:acm:us-east-1:123456789012:certificate/" + "0" * 36


def test_the_script_writes_what_pytest_sees(assembly: Assembly, tmp_path: Path) -> None:
    command = [sys.executable, "infra/app.py", "--outdir", str(tmp_path)]

    # Proxies that lead nowhere: it needs neither the network nor credentials.
    nowhere = {"HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}
    subprocess.run(command, cwd=ROOT, env={**os.environ, **nowhere}, check=True, timeout=600)

    written = {path.name: path.read_text("utf-8") for path in tmp_path.glob("*.template.json")}
    assert written == {path.name: path.read_text("utf-8") for path in assembly.files}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("project", "Stack Room"),
        ("project", "stack--room"),
        ("project", "a-name-that-is-far-too-long"),
        ("knowledge_base_pool_size", 0),
        ("knowledge_base_pool_size", 101),
        ("knowledge_base_type", "MANAGED"),
        ("knowledge_base_type", ""),
        ("catalog_data_sources", "S3"),
        ("catalog_data_sources", ""),
        ("project", "pawshop"),
        ("callback_urls", "http://127.0.0.1:6274/oauth/callback"),
        ("callback_urls", "http://inspector.example/callback"),
        ("callback_urls", "https://inspector.example/callback#part"),
        ("callback_urls", "https://inspector.example/a b"),
        ("callback_urls", "https:///callback"),
        ("callback_urls", "callback"),
        ("callback_urls", ",".join(f"https://{n}.example/" for n in range(100))),
        ("callback_urls", f"https://inspector.example/{'x' * 1024}"),
        ("bundling", "docker"),
        ("rerank_model", "titan"),
        ("retrieve_least_score", "42"),
        ("retrieve_least_score", "low"),
        ("retrieve_max_tokens", 0),
        ("retrieve_max_tokens", "-1"),
        ("retrieve_max_tokens", "100001"),
        ("retrieve_max_tokens", 4000.5),
        ("retrieve_max_tokens", "four thousand"),
        ("retrieve_max_tokens", "٤٠٠٠"),
        ("retrieve_prioritize_by", ""),
        ("retrieve_prioritize_by", "Recency"),
        ("retrieve_via", "s3-vectors"),
        ("retrieve_via", ""),
        ("retrieve_sharing", "yes"),
        ("retrieve_sharing", True),
        ("redis_url", "localhost:6379"),
        ("redis_url", "rediss://:secret@cache.example.com:6379"),
        ("redis_url", "rediss://cache.example.com?ssl_cert_reqs=none"),
        ("redis_subnet_ids", "subnet-0123456789abcdef0"),  # without a cache
        ("redis_subnet_ids", "vpc-0123456789abcdef0"),
        ("redis_subnet_ids", "subnet-01234567,subnet-01234567"),
        ("redis_security_group_ids", "sg-0123456789abcdef0"),
        ("redis_security_group_ids", "default"),
        (
            "redis_security_group_ids",
            "sg-00000001,sg-00000002,sg-00000003,sg-00000004,sg-00000005,sg-00000006",
        ),
        ("search_language", "english"),
        ("search_language", ""),
        ("search_language", "None"),
        ("chunking", "default"),  # which is said by saying nothing
        ("chunking", "recursive"),
        ("chunk_tokens", "300"),  # without chunking
        ("chunk_overlap", 20),
        ("parsing", ""),
        ("parsing", "ocr"),
        ("parsing_model", "amazon.nova-lite-v1:0"),  # for nothing
        ("prewarm_minutes", 4),
        ("prewarm_minutes", "61"),
        ("prewarm_minutes", -15),
        ("console", "yes"),
        ("console", True),
        ("console_domain", "https://console.example.com"),
        ("console_domain", "Console.example.com"),
        ("console_domain", "console.example.com"),  # without a certificate
        ("console_certificate_arn", "arn:aws:iam::123456789012:server-certificate/console"),
        ("console_certificate_arn", CERTIFICATE),  # without a domain
        ("agent_models", "nova"),
        ("agent_models", "amazon.nova-lite-v1:0,"),
        ("agent_models", "amazon.nova-lite-v1:0,amazon.nova-lite-v1:0"),
        ("agent_models", ",".join(f"amazon.nova-v{number}" for number in range(11))),
        ("upload_origins", "*"),
        ("upload_origins", "https://app.example.com/"),
        ("upload_origins", "app.example.com"),
        ("project", "laws"),  # with "aws" in it, which Cognito reserves
        ("admission_jobs", 0),
        ("admission_direct_calls", "0"),
        ("admission_seconds_between_starts", -1),
        ("answer_model", ""),
        ("answer_model", "nova"),
        ("answer_model", "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0"),
        ("answer_via", "invoke_model"),
        ("answer_via", ""),
        ("answer_prompt_file", "no/such/file.txt"),
        ("answer_prompt_file", "cdk.json"),  # which has no placeholders
        ("guardrail_id", "arn:aws:bedrock:us-east-1:123456789012:guardrail/gr123"),
        ("guardrail_id", "gr123"),  # without a version
        ("guardrail_version", "2"),  # of no guardrail
    ],
)
def test_a_wrong_setting_is_named(name: str, value: object) -> None:
    app = cdk.App(context={**RIGHT, name: value})

    with pytest.raises(ValueError, match=f"context {name} .* (must|is not)"):
        Deployment.from_context(app)


@pytest.mark.parametrize(
    ("context", "named"),
    [
        ({"chunking": "fixed", "chunk_tokens": "0"}, "chunk_tokens 0 "),
        ({"chunking": "fixed", "chunk_tokens": "8193"}, "chunk_tokens 8193 "),
        ({"chunking": "fixed", "chunk_tokens": "many"}, "chunk_tokens 'many' "),
        ({"chunking": "fixed", "chunk_tokens": -300}, "chunk_tokens '-300' "),
        ({"chunking": "fixed", "chunk_overlap": "100"}, "chunk_overlap 100 "),
        ({"chunking": "semantic", "chunk_overlap": "20"}, "chunk_overlap '20' "),
        ({"chunking": "none", "chunk_tokens": "300"}, "chunk_tokens '300' "),
        ({"chunking": "hierarchical", "chunk_tokens": "1500"}, "chunk_tokens '1500' "),
        ({"chunking": "hierarchical", "chunk_tokens": "300,1500"}, "chunk_tokens 1500 "),
        ({"chunking": "hierarchical", "chunk_tokens": "8000,300"}, "chunk_tokens 8000 "),
        ({"chunking": "hierarchical", "chunk_overlap": "0"}, "chunk_overlap 0 "),
        ({"chunking": "hierarchical", "retrieve_via": "s3vectors"}, "chunking 'hierarchical' "),
        ({"parsing": "foundation_model"}, "parsing_model None "),
        ({"parsing": "foundation_model", "parsing_model": "nova"}, "parsing_model 'nova' "),
    ],
)
def test_wrong_numbers_of_chunks_are_named_as_they_were_set(
    context: dict[str, object], named: str
) -> None:
    app = cdk.App(context={**RIGHT, **context})

    with pytest.raises(ValueError, match=f"^context {named}.*must be"):
        Deployment.from_context(app)


@pytest.mark.parametrize(
    ("context", "named"),
    [
        ({"answer_via": "retrieve_and_generate"}, "answer_via 'retrieve_and_generate' "),
        ({"chunking": "semantic"}, "chunking 'semantic' "),
        ({"chunking": "fixed"}, "chunking 'fixed' "),
        ({"chunking": "hierarchical", "retrieve_via": "bedrock"}, "chunking 'hierarchical' "),
        ({"parsing": "bedrock_data_automation"}, "parsing 'bedrock_data_automation' "),
    ],
)
def test_what_managed_knowledge_bases_cannot_do_is_refused(
    context: dict[str, object], named: str
) -> None:
    app = cdk.App(context={**RIGHT, **context, "knowledge_base_type": "managed"})

    with pytest.raises(ValueError, match=f"^context {named}.*must be .*(managed|MANAGED)"):
        Deployment.from_context(app)


def test_the_longest_role_name_is_legal() -> None:
    app = cdk.App(context={**RIGHT, "project": "a" * 20})
    deployment = Deployment.from_context(app)

    longest = deployment.role_name("identity-interceptor").replace(cdk.Aws.REGION, "ap-southeast-2")

    assert len(longest) <= 64


def test_the_longest_bucket_name_is_legal() -> None:
    app = cdk.App(context={**RIGHT, "project": "a" * 20})
    name = Deployment.from_context(app).bucket_name("kb-docs")

    longest = name.replace(cdk.Aws.REGION, "ap-southeast-2").replace(
        cdk.Aws.ACCOUNT_ID, "123456789012"
    )

    assert len(longest) <= 63
