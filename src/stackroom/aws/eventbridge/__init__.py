"""Adapters for Amazon EventBridge."""
