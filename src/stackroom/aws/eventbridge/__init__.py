"""Events on EventBridge, for anyone with a rule for them."""
