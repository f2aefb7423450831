"""What `--ray` means, and the check that Ray is installed. No Ray here."""

from __future__ import annotations

from importlib.util import find_spec

from disconer.core.errors import DisconerError

RAY_OPTION = "--ray"
HERE = "local"  # stands for an address: a Ray of its own on this machine


def check_ray_installed(*packages: str) -> None:
    """packages: what is needed beside Ray itself."""
    missing = [name for name in ("ray", *packages) if find_spec(name) is None]
    if missing:
        raise DisconerError(
            f"{RAY_OPTION} needs packages that are not installed: {', '.join(missing)}",
            fix="Install them: pip install 'disconer[ray]'.",
        )
