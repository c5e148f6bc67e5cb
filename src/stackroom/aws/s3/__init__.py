"""Adapters for Amazon S3."""
