"""The preflight's checks of Bedrock, S3 Vectors and AgentCore, and of the models."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from boto3.session import Session
from botocore.exceptions import ClientError, ConnectTimeoutError, EndpointConnectionError

from infra.asking import Client, Result, failed, passed, run_parallel, warning
from infra.limits import LIMITS, get_quota
from infra.synthesised import Model

# Regions with all resource types of the templates, Titan Text Embeddings V2 itself, and a global
# profile of the default `answer_model`; docs/deploy.md lists them. The types are taken from
# CloudFormation's registry of 2026-10-20 (cfn-lint 1.58.0), the models from these pages, as
# stored in November 2026:
# https://docs.aws.amazon.com/bedrock/latest/userguide/knowledge-base-supported.html
# https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html
REGIONS = (
    *("us-east-1", "us-east-2", "us-west-2", "ca-central-1"),
    *("eu-central-1", "eu-north-1", "eu-south-1", "eu-south-2", "eu-west-1", "eu-west-2"),
    *("eu-west-3", "ap-northeast-1", "ap-northeast-2", "ap-south-1", "ap-southeast-2"),
)
CHOOSE_REGION = "export AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1"

# Services that some regions lack, with a call that an existing service answers, even if it refuses.
_SERVICES: Mapping[str, tuple[str, Callable[[Any], object]]] = {
    "Bedrock": ("bedrock", lambda c: c.list_inference_profiles(maxResults=1)),
    "knowledge bases": ("bedrock-agent", lambda c: c.list_knowledge_bases(maxResults=1)),
    "S3 Vectors": ("s3vectors", lambda c: c.list_vector_buckets(maxResults=1)),
    "AgentCore": ("bedrock-agentcore-control", lambda c: c.list_gateways(maxResults=1)),
}


def region(client: Client, where: str) -> Result:
    """Check the services by their endpoints, which a region without the service lacks."""
    answering = run_parallel(
        [partial(_answers, client(service), ask) for service, ask in _SERVICES.values()]
    )
    if missing := [name for name, ok in zip(_SERVICES, answering, strict=True) if not ok]:
        where_to = "docs/deploy.md lists the regions with all of them"
        return failed(f"{where} has no {', no '.join(missing)}; {where_to}", CHOOSE_REGION)
    if where not in REGIONS:
        return warning(
            f"{where} is not known to have everything (docs/deploy.md lists the regions)"
        )
    return passed(f"{where} has {', '.join(_SERVICES)}")


# As of November 2026; the price is for the first million pages a month.
# https://docs.aws.amazon.com/textract/latest/dg/limits-document.html
# https://aws.amazon.com/textract/pricing/
_OCR = (
    "Textract reads pages in English, French, German, Italian, Portuguese and Spanish, at"
    " $1.50 per 1,000 pages in us-east-1"
)


def ocr(client: Client, where: str) -> Result:
    """Check Textract with an invalid document of one byte, which costs nothing."""
    textract = client("textract")
    if not _answers(textract, lambda c: c.detect_document_text(Document={"Bytes": b"?"})):
        listed = ", ".join(sorted(Session().get_available_regions("textract")))
        return failed(
            f"{where} has no Textract, which ocr=textract needs; it is in {listed}",
            'make deploy ARGS="-c ocr=none"',
            CHOOSE_REGION,
        )
    return passed(_OCR)


def _answers(client: Any, ask: Callable[[Any], object]) -> bool:
    try:
        ask(client)
    except ClientError:
        return True
    except (EndpointConnectionError, ConnectTimeoutError):
        return False
    return True


_NO_MODEL = ("ResourceNotFoundException", "ValidationException")
# The minimal question of `query_catalog`: a model that refuses it can't answer questions.
QUESTION: Mapping[str, Any] = {
    "system": [{"text": "Answer in one word."}],
    "messages": [{"role": "user", "content": [{"text": "hello"}]}],
    "inferenceConfig": {"maxTokens": 2000},
}


def model(client: Client, model: Model, where: str) -> Result:
    """
    Check that the model can be called, and ask a question if it writes text.

    The first call of a model may accept its agreement, so only a model whose agreement exists is
    called. `authorizationStatus` is ignored: users saw NOT_AUTHORIZED for models that answer, and
    AUTHORIZED for some that refuse.
    https://docs.aws.amazon.com/bedrock/latest/APIReference/API_GetFoundationModelAvailability.html
    """
    aws = f"aws --region {where}"
    question = {"modelId": model.id, **QUESTION}
    ask = f"{aws} bedrock-runtime converse --cli-input-json '{json.dumps(question)}'"
    elsewhere: tuple[str, ...] = (
        f"{aws} bedrock list-inference-profiles"
        " --query 'inferenceProfileSummaries[].inferenceProfileId'",
        'make deploy ARGS="-c answer_model=..."',
    )
    if "embed" in model.id:
        ask = f"{aws} bedrock-runtime invoke-model --model-id {model.id} --body"
        ask += """ '{"inputText":"hello"}' --cli-binary-format raw-in-base64-out /dev/stdout"""
        elsewhere = (CHOOSE_REGION,)
    access = _access(client("bedrock"), model, where, ask, elsewhere)
    if "embed" in model.id or access.mark != "ok":
        return access
    try:
        client("bedrock-runtime").converse(**question)
    except ClientError as error:
        if error.response["Error"]["Code"] != "ValidationException":
            raise
        return failed(f"refuses a question: {error.response['Error']['Message']}", *elsewhere)
    return passed("answers")


def _access(bedrock: Any, model: Model, where: str, ask: str, elsewhere: tuple[str, ...]) -> Result:
    """Check what AWS says about the model without calling it."""
    has_profile, requested = model.id != model.foundation, "profile"
    try:
        if has_profile:
            bedrock.get_inference_profile(inferenceProfileIdentifier=model.id)
        requested = "model"
        found = bedrock.get_foundation_model_availability(modelId=model.foundation)
    except ClientError as error:
        if error.response["Error"]["Code"] not in _NO_MODEL:
            raise
        problem = f"not in {where}: {error.response['Error']['Message']}"
        if has_profile and requested == "model":  # the model itself may be in other regions
            return warning(f"its profile is available; the model itself is {problem}", ask)
        return failed(problem, *elsewhere)
    # Behind a profile, the model itself may be in other regions.
    if not has_profile and found["regionAvailability"] != "AVAILABLE":
        return failed(f"not in {where}", *elsewhere)
    if found["entitlementAvailability"] != "AVAILABLE":
        # Not `failed`: it is unknown what AWS says for accounts that have called no model yet.
        return warning("not available to this account yet; a first call may change that", ask)
    if (agreement := found["agreementAvailability"]["status"]) != "AVAILABLE":
        return warning(f"its agreement is {agreement}; the first call accepts most agreements", ask)
    return passed("available")


def quotas(client: Client, models: tuple[Model, ...], where: str) -> Result:
    """
    Check the quotas of ingestion and models: users have seen new accounts in which these are 0.
    """
    service, bedrock = client("service-quotas"), client("bedrock")
    found = {limit: get_quota(service, limit.quota) for limit in LIMITS}
    pages = service.get_paginator("list_service_quotas").paginate(ServiceCode="bedrock")
    minutes = [
        each for page in pages for each in page["Quotas"] if "per minute" in each["QuotaName"]
    ]
    zero = [each for each in found.values() if each["Value"] <= 0]
    for each in models:
        details = bedrock.get_foundation_model(modelIdentifier=each.foundation)["modelDetails"]
        own = [quota for quota in minutes if details["modelName"] in quota["QuotaName"]]
        if own and not any(quota["Value"] for quota in own):
            zero += own
    if zero:
        return failed(
            f"0 of {', '.join(repr(each['QuotaName']) for each in zero)}",
            *(
                f"aws --region {where} service-quotas request-service-quota-increase"
                f" --service-code bedrock --quota-code {each['QuotaCode']} --desired-value 100"
                for each in zero
                if each.get("Adjustable")
            ),
            "https://console.aws.amazon.com/support/home: request the quotas, free of charge",
        )
    values = (f"{limit.context}={limit.convert(each['Value']):g}" for limit, each in found.items())
    return passed(", ".join(values))
