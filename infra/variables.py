"""
Checks that each function's variables fit into Lambda's limit, before anything is deployed.

AWS would report it only when the knowledge bases exist already.
"""

import aws_cdk as cdk

from infra.function import HandlerFunction
from stackroom_constructs.environment import check

_ADVICE = (
    "Choose a smaller knowledge_base_pool_size, fewer agent_models, or shorter"
    " shared_knowledge_bases_file and answer_prompt_file"
)


def check_variables(app: cdk.App) -> None:
    """Raise TooLarge that names the first function whose variables may exceed the limit."""
    for each in app.node.find_all():
        if isinstance(each, HandlerFunction):
            check(each, each.variables, advice=_ADVICE)
