"""
A CDK app as a third party writes it: knowledge bases in one stack, and agents in another, which
know them by references and by an ARN in a parameter.
"""

from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_ssm as ssm
from aws_cdk.aws_s3_assets import Asset

from stackroom_constructs import (
    AgentDefinitionProps,
    BatchAgent,
    BedrockKnowledgeBase,
    KnowledgeBaseCreation,
)

HERE = Path(__file__).parent
MODEL = "anthropic.claude-3-haiku-20240307-v1:0"
AWAY = cdk.RemovalPolicy.DESTROY
PARAMETER = "/library/tides/arn"


class Library(cdk.Stack):
    """Documents about tides and birds."""

    def __init__(self, app: cdk.App) -> None:
        super().__init__(app, "Library")
        self.bucket = s3.Bucket(self, "Documents", enforce_ssl=True, removal_policy=AWAY)
        self.tides = self.knowledge_base("Tides", "When the sea rises, and when boats leave.")
        self.birds = self.knowledge_base("Birds", "Where birds breed.")
        ssm.StringParameter(
            self,
            "TidesArn",
            parameter_name=PARAMETER,
            string_value=self.tides.knowledge_base_arn,
        )
        self.told("Bucket", self.bucket.bucket_name)

    def knowledge_base(self, name: str, description: str) -> BedrockKnowledgeBase:
        made = BedrockKnowledgeBase(
            self,
            name,
            create=KnowledgeBaseCreation(
                bucket=self.bucket, prefix=f"{name.lower()}/", removal_policy=AWAY
            ),
            description=description,
        )
        self.told(f"{name}Id", made.knowledge_base_id)
        self.told(f"{name}Source", made.data_source_id)
        return made

    def told(self, name: str, value: str) -> None:
        cdk.CfnOutput(self, name, value=value)


class Agents(cdk.Stack):
    def __init__(self, app: cdk.App, library: Library) -> None:
        super().__init__(app, "Agents")
        self.prompt = Asset(self, "Prompt", path=str(HERE / "prompt.txt"))
        arn = ssm.StringParameter.value_for_string_parameter(self, PARAMETER)
        tides = BedrockKnowledgeBase(
            self,
            "Tides",
            knowledge_base_id=cdk.Fn.select(1, cdk.Fn.split("/", arn)),
            description="When the sea rises, and when boats leave.",
        )
        birds = BedrockKnowledgeBase(
            self,
            "Birds",
            knowledge_base_id=library.birds.knowledge_base_id,
            description=library.birds.description,
        )
        self.agent("both", [tides, birds])
        layer = lambda_.LayerVersion(
            self, "Layer", code=lambda_.Code.from_asset(str(HERE / "layer"))
        )
        self.agent("tooled", [], tools=(HERE / "tools",), layers=(layer,))

    def agent(
        self,
        name: str,
        knowledge_bases: list[BedrockKnowledgeBase],
        *,
        tools: tuple[Path, ...] = (),
        layers: tuple[lambda_.ILayerVersion, ...] = (),
    ) -> None:
        definition = AgentDefinitionProps(
            bedrock_model=MODEL,
            system_prompt=self.prompt,
            tools=[Asset(self, f"Tool{path.stem}", path=str(path)) for path in tools],
            lambda_layers=layers,
            knowledge_bases=knowledge_bases or None,
        )
        made = BatchAgent(
            self,
            f"{name.capitalize()}Agent",
            agent_name=name,
            agent_definition=definition,
            prompt="Answer the question.",
            enable_observability=True,
        )
        cdk.CfnOutput(self, f"{name}Function", value=made.agent_function.function_name)


app = cdk.App()
Agents(app, Library(app))
app.synth()
