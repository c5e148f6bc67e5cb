"""Templates of stacks with what the simulator makes, as anybody may write them."""

from typing import Any

EMBEDDING = "arn:aws:bedrock:us-east-1::foundation-model/amazon.titan-embed-text-v2:0"
ROLE = "arn:aws:iam::000000000000:role/knowledge-base"
# Whoever is not that role is kept from the vectors.
POLICY = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Deny",
            "Principal": {"AWS": "*"},
            "Action": ["s3vectors:GetVectors", "s3vectors:QueryVectors"],
            "Resource": "*",
            "Condition": {"ArnNotLike": {"aws:PrincipalArn": [ROLE]}},
        }
    ],
}


def a_knowledge_base(name: str) -> dict[str, Any]:
    return {
        "Resources": {
            "Vectors": {"Type": "AWS::S3Vectors::VectorBucket"},
            "Access": {
                "Type": "AWS::S3Vectors::VectorBucketPolicy",
                "Properties": {"VectorBucketArn": {"Ref": "Vectors"}, "Policy": POLICY},
            },
            "Index": {
                "Type": "AWS::S3Vectors::Index",
                "Properties": {
                    "VectorBucketArn": {"Fn::GetAtt": ["Vectors", "VectorBucketArn"]},
                    "DataType": "float32",
                    "Dimension": 1024,
                    "DistanceMetric": "cosine",
                },
            },
            "Base": {
                "Type": "AWS::Bedrock::KnowledgeBase",
                "Properties": {
                    "Name": name,
                    "RoleArn": ROLE,
                    "KnowledgeBaseConfiguration": {
                        "Type": "VECTOR",
                        "VectorKnowledgeBaseConfiguration": {"EmbeddingModelArn": EMBEDDING},
                    },
                    "StorageConfiguration": {
                        "Type": "S3_VECTORS",
                        "S3VectorsConfiguration": {"IndexArn": {"Ref": "Index"}},
                    },
                    "Tags": {"team": "birds"},
                },
            },
            "Source": {
                "Type": "AWS::Bedrock::DataSource",
                "Properties": {
                    "Name": "documents",
                    "KnowledgeBaseId": {"Ref": "Base"},
                    "DataSourceConfiguration": {
                        "Type": "S3",
                        "S3Configuration": {"BucketArn": "arn:aws:s3:::documents"},
                    },
                },
            },
        },
        "Outputs": {
            "Id": {"Value": {"Ref": "Base"}},
            "Arn": {"Value": {"Fn::GetAtt": ["Base", "KnowledgeBaseArn"]}},
            "Source": {"Value": {"Ref": "Source"}},
            "SourceId": {"Value": {"Fn::GetAtt": ["Source", "DataSourceId"]}},
        },
    }
