"""The adapters, by what they speak to; these alone import boto3."""
