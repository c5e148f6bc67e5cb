"""The adapters, one package for each service; only these import boto3."""
