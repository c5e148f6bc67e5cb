"""What a function may do that has a model answer, or that shows what a guardrail let through."""

from collections.abc import Sequence

from infra.answers import RETRIEVE_AND_GENERATE
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
        handler.tell(name, value)
    # https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonbedrock.html
    if deployment.answer_model.via == RETRIEVE_AND_GENERATE:
        handler.allow(
            "bedrock:RetrieveAndGenerate",
            on="*",
            because="The action has no resource type; what it searches and asks has, below.",
        )
    handler.allow("bedrock:Retrieve", on=knowledge_base_arns)
    for right in deployment.answer_model.model.rights(handler):
        handler.allow(*right.actions, on=right.resources, where=right.where, because=right.because)
    may_guard(handler, deployment=deployment)


def may_guard(handler: HandlerFunction, *, deployment: Deployment) -> None:
    """Nothing, if the deployment has no guardrail."""
    guardrail = deployment.guardrail
    if guardrail is None:
        return
    for name, value in guardrail.environment.items():
        handler.tell(name, value)
    handler.allow("bedrock:ApplyGuardrail", on=guardrail.arn(handler))
