"""Events told to whoever has a rule for them."""
