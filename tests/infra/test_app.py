"""Validation of settings, and of the names that are derived from them."""

import aws_cdk as cdk
import pytest

from infra.contexts import create_app
from infra.deployment import Deployment
from infra.fitting import MAX_TOKENS, PRIORITIES, Fitting
from stackroom.app.function_settings import FittingSettings
from stackroom.search import budget
from stackroom.search.budget import Priority
from tests.infra.synthesis import CERTIFICATE, REDIS, RIGHT

SUBNET = "subnet-0123456789abcdef0"
GROUPS = ",".join(f"sg-0000000{number}" for number in range(6))
MANAGED = {"knowledge_base_type": "managed"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("project", "stack--room"),
        ("project", "pawshop"),  # with "aws" in it, which Cognito reserves
        ("knowledge_base_pool_size", 101),
        ("callback_urls", "http://inspector.example/callback"),
        ("callback_urls", "http://[::1"),
        ("callback_urls", ",".join(f"app{number}:/callback" for number in range(100))),
        ("rerank_model", "titan"),
        ("retrieve_max_tokens", "٤٠٠٠"),
        ("redis_url", "rediss://cache.example.com?ssl_cert_reqs=none"),
        ("redis_subnet_ids", SUBNET),  # without a cache
        ("redis_security_group_ids", GROUPS),  # one more than a function may have
        ("chunk_tokens", "300"),  # without chunking
        ("retrieve_least_score", "42"),
        ("retrieve_via", "s3-vectors"),
        ("search_language", "english"),
        ("admission_jobs", 0),
        ("console_certificate_arn", CERTIFICATE),  # without a domain
        ("parsing_model", "amazon.nova-lite-v1:0"),  # for nothing
        ("console_domain", "console.example.com"),  # without a certificate
        ("agent_models", "amazon.nova-lite-v1:0,amazon.nova-lite-v1:0"),
        ("upload_origins", "*"),
        ("answer_model", "nova"),
        ("answer_prompt_file", "cdk.json"),  # which has no placeholders
        ("answer_prompt_file", "no_such_file.txt"),
        ("agent_models", "nova"),
        ("lambda_concurrency", 0),
        ("backup_days", 36501),
        ("guardrail_id", "arn:aws:bedrock:us-east-1:123456789012:guardrail/gr123"),
    ],
)
def test_invalid_setting_is_refused_by_name(name: str, value: object) -> None:
    app = cdk.App(context={**RIGHT, name: value})

    with pytest.raises(ValueError, match=f"context {name} (.* )?(must|is not)"):
        Deployment.from_context(app)


def test_unknown_setting_is_refused_by_name_and_cdk_context_is_accepted() -> None:
    with pytest.raises(ValueError, match=r"'answer_via', 'pool_size' is no setting .*admission"):
        create_app(None, {"answer_via": "converse", "pool_size": 2, "retrieve_via": "bedrock"})

    of_cdk = {"aws:cdk:enable-path-metadata": True, "@aws-cdk/core:some-flag": True}
    values = create_app(None, {**of_cdk, "cli-telemetry": False}).node.get_all_context()

    assert of_cdk == {name: values[name] for name in of_cdk}


@pytest.mark.parametrize(
    ("context", "named"),
    [
        ({"chunking": "fixed", "chunk_tokens": "0"}, "chunk_tokens 0 "),
        ({"chunking": "hierarchical", "chunk_tokens": "1500"}, "chunk_tokens '1500' "),
        ({"chunking": "hierarchical", "retrieve_via": "s3vectors"}, "chunking 'hierarchical' "),
        ({"parsing": "foundation_model"}, "parsing_model None "),
        ({"parsing": "bedrock_data_automation", "ocr": "textract"}, "ocr 'textract' "),
        ({"catalog_data_sources": "s3", "ocr": "textract"}, "ocr 'textract' "),
        ({"ocr": "textract", **MANAGED}, "ocr 'textract' "),
        ({"chunking": "semantic", **MANAGED}, "chunking 'semantic' "),
        ({"chunking": "fixed", **MANAGED}, "chunking 'fixed' "),
        ({"chunking": "fixed", "chunk_tokens": "many"}, "chunk_tokens 'many' "),
        ({"chunking": "semantic", "chunk_overlap": "20"}, "chunk_overlap '20' "),
        ({"guardrail_id": "gr123"}, "guardrail_version '' "),
        ({"guardrail_version": "2"}, "guardrail_id '' "),
        ({"redis_url": REDIS, "redis_subnet_ids": SUBNET}, f"redis_subnet_ids '{SUBNET}' "),
    ],
)
def test_conflicting_settings_are_refused_by_name(context: dict[str, object], named: str) -> None:
    app = cdk.App(context={**RIGHT, **context})

    with pytest.raises(ValueError, match=f"^context {named}.*must be"):
        Deployment.from_context(app)


def test_longest_role_and_bucket_names_are_within_limits() -> None:
    deployment = Deployment.from_context(cdk.App(context={**RIGHT, "project": "a" * 20}))

    role = deployment.role_name("identity-interceptor")
    bucket = deployment.bucket_name("kb-docs").replace(cdk.Aws.ACCOUNT_ID, "123456789012")

    assert len(role.replace(cdk.Aws.REGION, "ap-southeast-2")) <= 64
    assert len(bucket.replace(cdk.Aws.REGION, "ap-southeast-2")) <= 63


def test_fitting_settings_match_the_functions() -> None:
    variables = Fitting.from_context(cdk.App(context=RIGHT)).environment

    assert tuple(Priority) == PRIORITIES
    assert MAX_TOKENS == budget.MOST_TOKENS
    assert FittingSettings.from_env(variables) == FittingSettings.from_env({})
