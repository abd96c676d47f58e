"""The documentation site: `make docs` builds it offline into docs/_build/html; a warning is an error.

Pages are Markdown, notebooks are plain scripts (jupytext) that are run while the site is built, and the reference is
written by reference/generate.py from the specs, the commands and the docstrings themselves.
"""

from __future__ import annotations

import logging
import re
import runpy
from pathlib import Path

from docutils import nodes
from pygments.lexers import BashLexer
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.osutil import relative_uri

import hardgap

HERE = Path(__file__).parent

project, author = "hardgap", "hardgap contributors"
version = release = hardgap.__version__
extensions = ["myst_nb"]
exclude_patterns = ["_build", "conf.py", "reference/generate.py", "reference/generated", "notebooks/nets.py"]
nitpicky = True

myst_enable_extensions = ["deflist", "colon_fence", "attrs_block"]
myst_heading_anchors = 4  # as GitHub names them, which is how the pages link

nb_custom_formats = {".py": ["jupytext.reads", {"fmt": "py:percent"}]}
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 600  # of a cell, on a busy machine
nb_execution_show_tb = True
nb_merge_streams = True

highlight_language = "text"
html_theme = "furo"
html_title = "hardgap"
html_static_path = ["_static"]
html_css_files = ["hardgap.css"]
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True, "footer_icons": []}


def setup(app: Sphinx) -> None:
    logging.getLogger("traitlets").setLevel(logging.WARNING)  # which tells of every notebook that it is run
    app.add_lexer("console", BashLexer)  # commands without a prompt, to be copied as they are
    app.connect("config-inited", lambda app, config: runpy.run_path(str(HERE / "reference" / "generate.py"))["main"]())
    app.connect("source-read", _take_up_pages)
    app.connect("source-read", _name_files)
    app.connect("doctree-resolved", _open_files)


def _take_up_pages(app: Sphinx, page: str, source: list[str]) -> None:
    """A pattern in a list of pages stands for those that there are, which may be none."""
    found = re.compile(r"^[\w/]+\*\n", re.MULTILINE)
    source[0] = found.sub(lambda one: one[0] if [*HERE.glob(f"{one[0].strip()}.md")] else "", source[0])


def _name_files(app: Sphinx, page: str, source: list[str]) -> None:
    """Code and pages of the repository outside this folder are files, not pages of the site."""

    def named(link: re.Match[str]) -> str:
        place = ((HERE / page).parent / link[2]).resolve()
        if place.is_relative_to(HERE) or not place.exists():
            return link[0]
        return f"[{link[1]}](path:{link[2]})" if place.is_file() else link[1]  # a folder cannot be opened

    source[0] = re.sub(r"\[([^\]]*)\]\((\.\./[^)#\s]+)\)", named, source[0])


def _open_files(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """A file of the repository that a page links to, such as the report, opens; Sphinx would have it saved."""
    for link in list(doctree.findall(addnodes.download_reference)):
        if "filename" in link:
            here = app.builder.get_target_uri(page)
            place = relative_uri(here, f"_downloads/{link['filename']}")
            link.replace_self(nodes.reference("", "", *link.children, refuri=place))
