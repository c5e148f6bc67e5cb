"""The listing of all objects, records and data sources of a deployment."""

from functools import cached_property

from stackroom.app.document_builder import DocumentBuilder
from stackroom.aws.listed_inventory import AwsInventory


class InventoryBuilder(DocumentBuilder):
    @cached_property
    def inventory(self) -> AwsInventory:
        return AwsInventory(
            s3=self.client("s3"),
            dynamodb=self._dynamodb,
            bedrock_agent=self.client("bedrock-agent"),
            bucket=self._bucket_name,
            catalog_table=self._catalog_table,
            managed=self._managed,
        )
