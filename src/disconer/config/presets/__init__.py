"""Configurations that come with disconer, one YAML file each."""
