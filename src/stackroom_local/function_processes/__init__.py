"""The processes that run Lambda functions: forked, launched, and tied to their parent's life."""
