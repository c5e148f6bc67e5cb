"""The two tables: one for catalogs with their documents, one that coordinates the pipeline."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct

_BY_USER = "user_id-index"
_BY_NAME = "filename-index"
_OPEN = "open-index"
_FAILED = "failed-index"
_LIVE = "live-index"


class _Table(dynamodb.TableV2):
    """
    A table with the project's defaults: on demand, encrypted, recoverable, retained, with a stream.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        table_name: str,
        keys: tuple[str, str],
        indexes: Sequence[dynamodb.GlobalSecondaryIndexPropsV2],
        local_indexes: Sequence[dynamodb.LocalSecondaryIndexProps] = (),
        time_to_live_attribute: str | None = None,
    ) -> None:
        partition, sort = keys
        super().__init__(
            scope,
            construct_id,
            table_name=table_name,
            partition_key=_string(partition),
            sort_key=_string(sort),
            global_secondary_indexes=indexes,
            local_secondary_indexes=list(local_indexes),
            time_to_live_attribute=time_to_live_attribute,
            dynamo_stream=dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,  # for infra/events.py
            billing=dynamodb.Billing.on_demand(),
            encryption=dynamodb.TableEncryptionV2.aws_managed_key(),
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            removal_policy=cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )


class CatalogTable(_Table):
    def __init__(self, scope: Construct, construct_id: str, *, table_name: str) -> None:
        # Only a catalog's METADATA item has a user_id; BatchGetItem reads the rest.
        by_user = dynamodb.GlobalSecondaryIndexPropsV2(
            index_name=_BY_USER,
            partition_key=_string("user_id"),
            projection_type=dynamodb.ProjectionType.KEYS_ONLY,
        )
        # Only documents have a filename. No projected attribute changes during ingestion, so that
        # changes of state cost no write here.
        by_name = dynamodb.GlobalSecondaryIndexPropsV2(
            index_name=_BY_NAME,
            partition_key=_string("catalog_id"),
            sort_key=_string("filename"),
            projection_type=dynamodb.ProjectionType.INCLUDE,
            non_key_attributes=["size", "uploaded_at", "gaps"],
        )
        # Sparse: only open, postponed and failed documents have these keys. Local, because
        # decisions
        # to write depend on the results, and a global index can't be read consistently. Local
        # indexes must be created with the table, and limit the items of a catalog_id
        # to 10 GB [DynamoDB developer guide: Local secondary indexes].
        listings = [
            dynamodb.LocalSecondaryIndexProps(
                index_name=name,
                sort_key=_string(key),
                projection_type=dynamodb.ProjectionType.KEYS_ONLY,
            )
            for name, key in ((_OPEN, "open_key"), (_FAILED, "failed_key"))
        ]
        super().__init__(
            scope,
            construct_id,
            table_name=table_name,
            keys=("catalog_id", "sk"),
            indexes=[by_user, by_name],
            local_indexes=listings,
            time_to_live_attribute="expires_at",  # of files that were announced and never uploaded
        )

    @property
    def by_user_arn(self) -> str:
        return f"{self.table_arn}/index/{_BY_USER}"

    @property
    def by_name_arn(self) -> str:
        return f"{self.table_arn}/index/{_BY_NAME}"

    @property
    def open_arn(self) -> str:
        return f"{self.table_arn}/index/{_OPEN}"

    @property
    def failed_arn(self) -> str:
        return f"{self.table_arn}/index/{_FAILED}"


class ControlTable(_Table):
    def __init__(self, scope: Construct, construct_id: str, *, table_name: str) -> None:
        # Sparse: only held items have `live`, so that a sweep reads just what expired.
        live = dynamodb.GlobalSecondaryIndexPropsV2(
            index_name=_LIVE,
            partition_key=_string("live"),
            sort_key=_string("until"),
            projection_type=dynamodb.ProjectionType.ALL,
        )
        super().__init__(
            scope,
            construct_id,
            table_name=table_name,
            keys=("pk", "sk"),
            indexes=[live],
            time_to_live_attribute="expires_at",
        )

    @property
    def live_arn(self) -> str:
        return f"{self.table_arn}/index/{_LIVE}"


def _string(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)
