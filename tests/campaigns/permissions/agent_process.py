"""
The process of a batch agent's function: events in by lines of JSON, answers out by lines of JSON.

    python -m tests.campaigns.permissions.agent_process

Its environment is the function's. What it asks AWS for is recorded, if anybody wants that.
"""

import importlib
import json
import os
import sys

from tests.campaigns.permissions.aws_call_recorder import VARIABLE, begin
from tests.support.lambda_context import Context


def main() -> None:
    if VARIABLE in os.environ:
        begin(os.environ["AWS_LAMBDA_FUNCTION_NAME"])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the function logs is no answer
    handler = importlib.import_module("stackroom_agents.batch_handler").handler
    for line in sys.stdin:
        print(json.dumps(handler(json.loads(line), Context())), file=answers, flush=True)


if __name__ == "__main__":
    main()
