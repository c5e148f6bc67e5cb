"""Figures and dashboards."""
