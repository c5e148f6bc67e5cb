"""What Stackroom is made of on AWS: one module per stack, wired in `app`."""
