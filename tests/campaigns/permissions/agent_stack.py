"""
Agents to synthesise: one with all that an agent can be given, one that is given less, and one whose
knowledge bases are stores that it searches itself.
"""

from pathlib import Path
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from aws_cdk.aws_s3_assets import Asset

from stackroom_constructs import (
    AgentDefinitionProps,
    BatchAgent,
    BedrockKnowledgeBase,
    IKnowledgeBase,
    Reranking,
    VectorIndexKnowledgeBase,
)
from tests.infra.assembly import Assembly

CLERK, LIBRARIAN, MECHANIC = "clerk", "librarian", "mechanic"
MODELS = {
    CLERK: "global.amazon.nova-2-lite-v1:0",
    LIBRARIAN: "amazon.nova-lite-v1:0",
    MECHANIC: "amazon.nova-micro-v1:0",
}
# As the templates have them; what they are called where the agents run is for `agents` to say.
MANUALS, LETTERS, GUARDRAIL = "MANUALS001", "LETTERS001", "guardrail1"
INTAKE, RATES = "intake", "rates.json"
ANSWERS = "answers"
PARTS, CHUNKS = "parts", "chunks"  # a vector bucket, and the index in it

# The rights of what came with it are the tool's own affair.
TOOL = f'''
import boto3
from strands import tool

@tool
def rate_of(currency: str) -> str:
    """What a currency costs.

    Args:
        currency: Its code.
    """
    rates = boto3.client("s3").get_object(Bucket="{INTAKE}", Key="{RATES}")["Body"].read()
    return f"{{currency}}: {{rates.decode()}}"
'''


def synthesised(folder: Path) -> Assembly:
    """Written into `folder`."""
    app = cdk.App(
        outdir=str(folder / "assembly"),
        analytics_reporting=False,
        context={"@aws-cdk/core:enablePartitionLiterals": True, "stackroom:bundling": "none"},
    )
    _clerk(cdk.Stack(app, f"agents-{CLERK}"), folder)
    _librarian(cdk.Stack(app, f"agents-{LIBRARIAN}"), folder)
    _mechanic(cdk.Stack(app, f"agents-{MECHANIC}"), folder)
    app.synth()
    return Assembly(folder / "assembly", "agents")


def _clerk(stack: cdk.Stack, folder: Path) -> None:
    tool = folder / "rates.py"
    tool.write_text(TOOL, "utf-8")
    read = [f"arn:aws:s3:::{INTAKE}/{RATES}", f"arn:aws:s3:::{INTAKE}/letters/*"]
    definition = AgentDefinitionProps(
        bedrock_model=MODELS[CLERK],
        system_prompt=_prompt(stack, folder),
        tools=[Asset(stack, "Rates", path=str(tool))],
        additional_policy_statements_for_tools=[
            iam.PolicyStatement(actions=["s3:GetObject"], resources=read)
        ],
        knowledge_bases=_knowledge_bases(stack),
    )
    agent = BatchAgent(
        stack,
        "Agent",
        agent_name=CLERK,
        agent_definition=definition,
        prompt="Answer the letter.",
        identity_from_event=True,
        answers_queue=sqs.Queue(stack, "Answers", queue_name=ANSWERS),
        enable_observability=True,
    )
    questions = sqs.Queue(
        stack, "Questions", queue_name="questions", visibility_timeout=cdk.Duration.hours(1)
    )
    agent.consume(questions)


def _librarian(stack: cdk.Stack, folder: Path) -> None:
    BatchAgent(
        stack,
        "Agent",
        agent_name=LIBRARIAN,
        agent_definition=AgentDefinitionProps(
            bedrock_model=MODELS[LIBRARIAN],
            system_prompt=_prompt(stack, folder),
            knowledge_bases=_knowledge_bases(stack, generation=False),
        ),
        prompt="Answer the question.",
        identity_from_event=True,
    )


def _mechanic(stack: cdk.Stack, folder: Path) -> None:
    BatchAgent(
        stack,
        "Agent",
        agent_name=MECHANIC,
        agent_definition=AgentDefinitionProps(
            bedrock_model=MODELS[MECHANIC],
            system_prompt=_prompt(stack, folder),
            knowledge_bases=_in_their_stores(stack),
        ),
        prompt="Answer the question.",
        identity_from_event=True,
    )


def _in_their_stores(stack: cdk.Stack) -> list[IKnowledgeBase]:
    index = stack.format_arn(
        service="s3vectors", resource="bucket", resource_name=f"{PARTS}/index/{CHUNKS}"
    )
    return [
        VectorIndexKnowledgeBase(
            stack,
            "Parts",
            index_arn=index,
            tenancy="user",
            embedding_dimensions=256,
            guardrail_id=GUARDRAIL,
            reranking=Reranking(model="amazon.rerank-v1:0"),
        )
    ]


def _prompt(stack: cdk.Stack, folder: Path) -> Asset:
    text = folder / "system_prompt.txt"
    text.write_text("You work with documents.\n", "utf-8")
    return Asset(stack, "SystemPrompt", path=str(text))


def _knowledge_bases(stack: cdk.Stack, **more: Any) -> list[BedrockKnowledgeBase]:
    return [
        BedrockKnowledgeBase(
            stack,
            "Manuals",
            knowledge_base_id=MANUALS,
            guardrail_id=GUARDRAIL,
            **more,
        ),
        BedrockKnowledgeBase(stack, "Letters", knowledge_base_id=LETTERS, enable_acl=True, **more),
    ]
