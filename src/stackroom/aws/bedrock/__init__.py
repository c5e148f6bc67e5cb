"""Bedrock's parts besides searching: data sources, ingestion, models, guardrails."""
