"""Token World: worlds written in `.tw`, checked, played and planned."""

__version__ = "0.1.0"
