"""The command line: thin commands, one file a group. Nothing here imports torch until a command needs it."""

from hardgap.cli.app import main

__all__ = ["main"]
