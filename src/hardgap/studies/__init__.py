"""Every claim that is measured by training runs; importing this package declares them all."""

from hardgap.studies import (
    ceiling,
    cliff,
    dial,
    explain,
    forecast,
    main_table,
    symbolic_ambiguity,
    symbolic_table,
    target,
    wide,
)

__all__ = [
    "ceiling",
    "cliff",
    "dial",
    "explain",
    "forecast",
    "main_table",
    "symbolic_ambiguity",
    "symbolic_table",
    "target",
    "wide",
]
