"""ministack, mended where it differs from AWS, and with what it does not have."""
