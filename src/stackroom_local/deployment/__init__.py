"""The synthesised templates, deployed here: into ministack, the simulator and the gateway."""
