"""Adapters that search S3 Vectors indexes directly."""
