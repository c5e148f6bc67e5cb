"""Stackroom: drop a file into S3 and it becomes searchable by agents."""
