"""Whether what a command is to write can be written: asked before it begins its work."""

from __future__ import annotations

import os
from pathlib import Path

from hardgap.core.errors import BadInput


def check_file(option: str, path: Path) -> None:
    """Refuse a file that cannot be written. One that is there stays as it is; none is left behind."""
    try:
        there = path.exists()
        if there and not path.is_file() and not path.is_dir():
            return  # a device or a pipe: opening it could wait for a reader
        path.open("ab").close()
        if not there:
            path.resolve().unlink()  # through a link, if the name is one
    except OSError as error:
        raise BadInput(f"{option} {path} cannot be written: {error.strerror}") from error


def check_folder(option: str, folder: Path) -> None:
    """Refuse a folder in which nothing can be written, or that cannot be made."""
    try:
        nearest = next(place for place in (folder, *folder.parents) if place.exists())
    except OSError as error:
        raise BadInput(f"{option} {folder} cannot be made: {error.strerror}") from error
    if not nearest.is_dir():
        raise BadInput(f"{option} {folder} cannot be made: {nearest} is not a folder")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise BadInput(f"{option} {folder} cannot be written: {nearest} does not permit it")


def check_figure(path: Path | None) -> None:
    """Refuse a figure that could not be saved in the end."""
    if path is not None:
        from hardgap.report.figures import check_format

        check_format(path)
        check_file("--figure", path)


def check_document(page: Path) -> None:
    """Refuse a page that could not be replaced, or beside which no figures can be drawn."""
    check_file("FILE", page)
    for folder in (page.parent, page.parent / "figures"):
        check_folder("FILE", folder)
