"""Every claim that is measured by training runs; importing this package declares them all."""

from hardgap.studies import ceiling, main_table, symbolic_table

__all__ = ["ceiling", "main_table", "symbolic_table"]
