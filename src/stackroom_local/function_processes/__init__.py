"""The processes that run Lambda functions here: forked, launched, and tied to their parent."""
