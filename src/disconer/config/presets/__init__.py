"""Bundled configurations, one YAML file each. No code."""
