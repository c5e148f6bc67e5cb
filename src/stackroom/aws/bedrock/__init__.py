"""What Bedrock does beside searching: data sources, ingestion, models, guardrails."""
