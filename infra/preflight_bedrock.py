"""Of the preflight: whether Bedrock, S3 Vectors and AgentCore are here, with the models."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from boto3.session import Session
from botocore.exceptions import ClientError, ConnectTimeoutError, EndpointConnectionError

from infra.asking import Client, Result, bad, good, is_gone, side_by_side, warning
from infra.limits import LIMITS, quota_of
from infra.synthesised import Model

# Where all types of the templates are, Titan Text Embeddings V2 is by itself, and the default
# `answer_model` may be asked by its global profile. docs/deploy.md lists them. The types by
# CloudFormation's registry of 2026-10-20 (cfn-lint 1.58.0), the models by these pages, as
# they were stored by November 2026:
# https://docs.aws.amazon.com/bedrock/latest/userguide/knowledge-base-supported.html
# https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html
REGIONS = (
    *("us-east-1", "us-east-2", "us-west-2", "ca-central-1"),
    *("eu-central-1", "eu-north-1", "eu-south-1", "eu-south-2", "eu-west-1", "eu-west-2"),
    *("eu-west-3", "ap-northeast-1", "ap-northeast-2", "ap-south-1", "ap-southeast-2"),
)
CHOOSE_REGION = "export AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1"

# What isn't in every region, and a call that any of them answers, if only by a refusal.
_SERVICES: Mapping[str, tuple[str, Callable[[Any], object]]] = {
    "Bedrock": ("bedrock", lambda c: c.list_inference_profiles(maxResults=1)),
    "knowledge bases": ("bedrock-agent", lambda c: c.list_knowledge_bases(maxResults=1)),
    "S3 Vectors": ("s3vectors", lambda c: c.list_vector_buckets(maxResults=1)),
    "AgentCore": ("bedrock-agentcore-control", lambda c: c.list_gateways(maxResults=1)),
}


def region(client: Client, where: str) -> Result:
    """By their endpoints: a service has none where it isn't."""
    answering = side_by_side(
        [partial(_answers, client(service), ask) for service, ask in _SERVICES.values()]
    )
    if silent := [name for name, there in zip(_SERVICES, answering, strict=True) if not there]:
        listed = "docs/deploy.md lists the regions that have all"
        return bad(f"{where} has no {', no '.join(silent)}; {listed}", CHOOSE_REGION)
    if where not in REGIONS:
        return warning(f"{where} answers, but is none of those known to have all (docs/deploy.md)")
    return good(f"{where} has {', '.join(_SERVICES)}")


# As of November 2026; the price is that of the first million pages a month.
# https://docs.aws.amazon.com/textract/latest/dg/limits-document.html
# https://aws.amazon.com/textract/pricing/
_OCR = (
    "Textract reads pages in English, French, German, Italian, Portuguese and Spanish, at"
    " $1.50 per 1,000 pages in us-east-1"
)


def ocr(client: Client, where: str) -> Result:
    """One byte is no document, and costs nothing."""
    textract = client("textract")
    if not _answers(textract, lambda c: c.detect_document_text(Document={"Bytes": b"?"})):
        listed = ", ".join(sorted(Session().get_available_regions("textract")))
        return bad(
            f"{where} has no Textract, which ocr=textract needs; it is in {listed}",
            'make deploy ARGS="-c ocr=none"',
            CHOOSE_REGION,
        )
    return good(_OCR)


def _answers(client: Any, ask: Callable[[Any], object]) -> bool:
    try:
        ask(client)
    except ClientError:
        return True
    except (EndpointConnectionError, ConnectTimeoutError):
        return False
    return True


# What `query_catalog` asks at least, so that a model which refuses it is no answering model.
QUESTION: Mapping[str, Any] = {
    "system": [{"text": "Answer in one word."}],
    "messages": [{"role": "user", "content": [{"text": "hello"}]}],
    "inferenceConfig": {"maxTokens": 2000},
}


def model(client: Client, model: Model, where: str) -> Result:
    """
    Check that the model can be called; a model that writes text is asked a question, too.

    The first call of a model may sign its agreement, so only one whose agreement is there is asked.
    `authorizationStatus` is not looked at: users saw NOT_AUTHORIZED of models that answer, and
    AUTHORIZED of some that refuse.
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
    found = _found(client("bedrock"), model, where, ask, elsewhere)
    if "embed" in model.id or found.mark != "ok":
        return found
    try:
        client("bedrock-runtime").converse(**question)
    except ClientError as error:
        if error.response["Error"]["Code"] != "ValidationException":
            raise
        return bad(f"refuses the question: {error.response['Error']['Message']}", *elsewhere)
    return good("answers")


def _found(bedrock: Any, model: Model, where: str, ask: str, elsewhere: tuple[str, ...]) -> Result:
    """Return what can be read of the model without a call of it."""
    has_profile, asked = model.id != model.foundation, "profile"
    try:
        if has_profile:
            bedrock.get_inference_profile(inferenceProfileIdentifier=model.id)
        asked = "model"
        found = bedrock.get_foundation_model_availability(modelId=model.foundation)
    except ClientError as error:
        if not (is_gone(error) or error.response["Error"]["Code"] == "ValidationException"):
            raise
        told = f"not in {where}: {error.response['Error']['Message']}"
        if has_profile and asked == "model":  # it need not be here itself
            return warning(f"its profile is here, the model itself {told}", ask)
        return bad(told, *elsewhere)
    # Behind a profile, it need not be in this region itself.
    if not has_profile and found["regionAvailability"] != "AVAILABLE":
        return bad(f"not in {where}", *elsewhere)
    if found["entitlementAvailability"] != "AVAILABLE":
        # Not `bad`: nobody has told what it says of accounts that have called no model yet.
        return warning("not available to this account yet; a first call may change that", ask)
    if (agreement := found["agreementAvailability"]["status"]) != "AVAILABLE":
        return warning(f"its agreement is {agreement}; the first call signs most of them", ask)
    return good("available")


def quotas(client: Client, models: tuple[Model, ...], where: str) -> Result:
    """Of ingestion, and of models: users have seen new accounts in which these are 0."""
    service, bedrock = client("service-quotas"), client("bedrock")
    found = {limit: quota_of(service, limit.quota) for limit in LIMITS}
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
        return bad(
            f"0 of {', '.join(repr(each['QuotaName']) for each in zero)}",
            *(
                f"aws --region {where} service-quotas request-service-quota-increase"
                f" --service-code bedrock --quota-code {each['QuotaCode']} --desired-value 100"
                for each in zero
                if each.get("Adjustable")
            ),
            "https://console.aws.amazon.com/support/home, an account's quotas are free to ask for",
        )
    told = (f"{limit.context}={limit.of(each['Value']):g}" for limit, each in found.items())
    return good(", ".join(told))
