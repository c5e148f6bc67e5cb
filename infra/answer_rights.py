"""What a function may do that has a model answer, or that shows what a guardrail let through."""

from collections.abc import Sequence

from infra.answers import GLOBAL, RETRIEVE_AND_GENERATE
from infra.deployment import Deployment
from infra.function import HandlerFunction


def may_answer(
    handler: HandlerFunction, *, deployment: Deployment, knowledge_base_arns: Sequence[str]
) -> None:
    """
    Variables and rights to ask the model about what these knowledge bases hold, guarded.

    A model may take long to write: such a function needs a minute (stackroom.aws.session).
    """
    for name, value in deployment.answer_model.environment(handler).items():
        handler.function.add_environment(name, value)
    # https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonbedrock.html
    if deployment.answer_model.via == RETRIEVE_AND_GENERATE:
        handler.allow(
            "bedrock:RetrieveAndGenerate",
            on="*",
            because="The action has no resource type; what it searches and asks has, below.",
        )
    handler.allow("bedrock:Retrieve", on=knowledge_base_arns)
    _may_invoke(handler, deployment)
    may_guard(handler, deployment=deployment)


def may_guard(handler: HandlerFunction, *, deployment: Deployment) -> None:
    """Nothing, if the deployment has no guardrail."""
    guardrail = deployment.guardrail
    if guardrail is None:
        return
    for name, value in guardrail.environment.items():
        handler.function.add_environment(name, value)
    handler.allow("bedrock:ApplyGuardrail", on=guardrail.arn(handler))


def _may_invoke(handler: HandlerFunction, deployment: Deployment) -> None:
    """
    Exactly the model; behind an inference profile wherever that sends a question, and only by it.
    Converse has no action of its own in IAM: it takes InvokeModel [API reference: Converse].

    A global profile asks for the model here, and for the model without a region.
    https://docs.aws.amazon.com/bedrock/latest/userguide/global-cross-region-inference.html
    https://docs.aws.amazon.com/bedrock/latest/userguide/geographic-cross-region-inference.html
    """
    model, arn = deployment.answer_model, deployment.answer_model.arn(handler)
    if model.profile is None:
        handler.allow("bedrock:InvokeModel", on=arn)
        return
    handler.allow("bedrock:InvokeModel", "bedrock:GetInferenceProfile", on=arn)
    by_profile = {"StringEquals": {"bedrock:InferenceProfileArn": arn}}
    if model.profile == GLOBAL:
        everywhere = [model.foundation_model_arn(handler, region) for region in (None, "")]
        handler.allow("bedrock:InvokeModel", on=everywhere, where=by_profile)
        return
    handler.allow(
        "bedrock:InvokeModel",
        on=model.foundation_model_arn(handler, "*"),
        where=by_profile,
        because="One model, in the regions of its inference profile, which AWS may add to.",
    )
