"""The console as `stackroom up` serves it, with the environment of the deployed catalog tools."""
