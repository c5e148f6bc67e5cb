"""Deploys the synthesised templates to ministack, the simulator and the gateway stand-in."""
