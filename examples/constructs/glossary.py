"""A knowledge base of somebody else, of whose class Stackroom knows nothing: terms in a table."""

from pathlib import Path

from aws_cdk.aws_dynamodb import ITable
from aws_cdk.aws_iam import PolicyStatement
from aws_cdk.aws_s3_assets import Asset
from constructs import Construct

from stackroom_constructs import RetrievalTool


class Glossary(Construct):
    name = "Glossary"
    description = "What the terms of the house mean."

    def __init__(self, scope: Construct, construct_id: str, *, table: ITable) -> None:
        super().__init__(scope, construct_id)
        self.table = table
        self.tool = Asset(self, "Tool", path=str(Path(__file__).with_name("glossary_tool.py")))

    def generate_iam_permissions(self) -> list[PolicyStatement]:
        return [PolicyStatement(actions=["dynamodb:GetItem"], resources=[self.table.table_arn])]

    def export_configuration(self) -> dict[str, str]:
        return {"knowledgeBaseId": "glossary", "table": self.table.table_name}

    def retrieval_tool(self) -> RetrievalTool:
        return RetrievalTool(name="look_up_term", asset=self.tool)
