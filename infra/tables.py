"""The two tables: catalogs with their documents, and what coordinates the pipeline."""

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
    """The house defaults: on demand, encrypted, recoverable, kept, its changes told."""

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
        # Only a catalog's METADATA item carries user_id; BatchGetItem reads the rest.
        by_user = dynamodb.GlobalSecondaryIndexPropsV2(
            index_name=_BY_USER,
            partition_key=_string("user_id"),
            projection_type=dynamodb.ProjectionType.KEYS_ONLY,
        )
        # Only documents carry a filename. Nothing that changes while one is indexed is in it, so
        # that no state costs a write here.
        by_name = dynamodb.GlobalSecondaryIndexPropsV2(
            index_name=_BY_NAME,
            partition_key=_string("catalog_id"),
            sort_key=_string("filename"),
            projection_type=dynamodb.ProjectionType.INCLUDE,
            non_key_attributes=["size", "uploaded_at", "gaps"],
        )
        # Sparse: what is open, waits over a cap or failed carries these keys, and nothing else.
        # Local, for a decision to write follows what they answer, and no global index is read
        # consistently. They are made with the table or never, and limit what lies under one
        # catalog_id to 10 GB [DynamoDB developer guide: Local secondary indexes].
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
            time_to_live_attribute="expires_at",  # of files that were announced and never came
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
        # Sparse: only what is held carries `live`, so that a sweep reads what expired and no more.
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
