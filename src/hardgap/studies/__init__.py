"""Every claim that is measured here; importing this package declares them all."""

from hardgap.studies import main_table

__all__ = ["main_table"]
