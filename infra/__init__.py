"""The CDK app that deploys Stackroom: one module per stack, assembled in `app`."""
