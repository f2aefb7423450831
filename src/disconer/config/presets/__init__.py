"""Bundled configurations, one YAML file each."""
