"""An account under simulated time: what takes AWS a month takes minutes here, rule for rule."""
