"""The vector buckets and vector indexes of a template, made in the simulator."""

from dataclasses import dataclass
from typing import Any

from stackroom_local.deployment.intrinsics import REF, Attributes
from stackroom_local.deployment.making import Request


@dataclass(frozen=True)
class VectorBuckets:
    """`AWS::S3Vectors::VectorBucket`; nothing of one can be changed."""

    s3vectors: Any

    def create(self, request: Request) -> str:
        self.s3vectors.create_vector_bucket(**request)
        return self._arn(vectorBucketName=request["vectorBucketName"])

    def known(self, request: Request) -> str | None:
        try:
            return self._arn(vectorBucketName=request["vectorBucketName"])
        except self.s3vectors.exceptions.NotFoundException:
            return None

    def attributes(self, physical_id: str) -> Attributes:
        return {REF: physical_id, "VectorBucketArn": physical_id}

    def update(self, physical_id: str, request: Request) -> None:
        pass

    def delete(self, physical_id: str) -> None:
        self.s3vectors.delete_vector_bucket(vectorBucketArn=physical_id)

    def _arn(self, **name: str) -> str:
        found = self.s3vectors.get_vector_bucket(**name)
        return str(found["vectorBucket"]["vectorBucketArn"])


@dataclass(frozen=True)
class VectorIndexes:
    """`AWS::S3Vectors::Index`; nothing of one can be changed."""

    s3vectors: Any

    def create(self, request: Request) -> str:
        self.s3vectors.create_index(**request)
        return self._arn(request)

    def known(self, request: Request) -> str | None:
        try:
            return self._arn(request)
        except self.s3vectors.exceptions.NotFoundException:
            return None

    def attributes(self, physical_id: str) -> Attributes:
        return {REF: physical_id, "IndexArn": physical_id}

    def update(self, physical_id: str, request: Request) -> None:
        pass

    def delete(self, physical_id: str) -> None:
        self.s3vectors.delete_index(indexArn=physical_id)

    def _arn(self, request: Request) -> str:
        # a template names the bucket by name or by ARN, GetIndex by name
        bucket = request.get("vectorBucketName") or request["vectorBucketArn"].split("/")[-1]
        found = self.s3vectors.get_index(vectorBucketName=bucket, indexName=request["indexName"])
        return str(found["index"]["indexArn"])
