"""The adapters: the only modules that import boto3."""
