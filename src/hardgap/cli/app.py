"""The commands and what happens when one goes wrong: one clear sentence on stderr, exit code 2."""

from __future__ import annotations

import io
import os
import shlex
import sqlite3
import sys
from contextlib import suppress
from typing import get_args

from cyclopts import App, ArgumentCollection, CycloptsError

import hardgap
from hardgap.cli.output import complain
from hardgap.core.errors import BadInput
from hardgap.core.plugins import Untrusted

BUG = 70
"""The exit code of what must not happen, as in sysexits.h."""
EPILOGUE = """\
Start with `hardgap demo`, then `hardgap reproduce main`. Every command that prints a table takes `--format` \
(markdown, html, csv, latex, json) and `--json` for all that it found; progress goes to stderr."""

# A command is named by where it lives, so that `--help` imports none of them.
COMMANDS = {
    "demo": "The whole story in under three minutes, ending in a page to open.",
    "ui": "A page in the browser: explore a gap, watch a network fill it, open it.",
    "train": "Hide patterns of a rule, train on the rest, watch the gap close (or not).",
    "sweep": "Train every combination that a TOML file asks for.",
    "reproduce": "Run what is missing of the paper's claims; print measured beside published.",
    "report": "Which claims of the paper hold: one page with every verdict, table and figure.",
    "suite": "Judge your network on fixed gaps, beside references; check and compare cards.",
    "atlas": "A rule's eight gaps: what is determined, what similarity says, what training gave.",
    "rule": "A rule's table, formula, class and a picture of its rollout.",
    "identify": "Does what is visible determine what is hidden?",
    "baselines": "Every interpolation method on the same gap, at five levels of representation.",
    "circuits": "Open a trained network: what it computes, and where.",
    "symbolic": "Experiment 2: chains of operators with one pair never shown.",
    "prove": "Check the theorems of the paper; each check says what it covers.",
    "construct": "Encoder weights that compute a rule exactly, verified and saved.",
    "runs": "List, show, plot, certify, retrain, export, import and remove measured runs.",
    "document": "Write what was measured into README and the pages of docs/.",
    "checks": "What computes here, and what is missing for which feature.",
    "bench": "Speed, as ratios against what you would otherwise use.",
}
GO_ON = (["train"], ["sweep"], ["reproduce"], ["atlas"], ["suite", "run"], ["symbolic", "train"])
"""Commands that keep what they have finished, so that the same one goes on after Ctrl-C; others begin anew."""


def build_app(asked: str | None = None) -> App:
    """The command line. The command that is `asked` for brings its own long help; the others one line each."""
    app = App(
        name="hardgap",
        help="Has a neural network learned a rule it was never shown?",
        help_epilogue=EPILOGUE if asked not in COMMANDS else None,
        version=hardgap.__version__,
        help_format="markdown",
        suppress_keyboard_interrupt=False,
        config=_refuse_fractions,
    )
    for command, summary in COMMANDS.items():
        app.command(f"hardgap.cli.{command}:{command}", name=command, help=None if command == asked else summary)
    app.register_install_completion_command()
    return app


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; always ends by raising SystemExit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character shows another
    given = sys.argv[1:] if arguments is None else arguments
    app = build_app(given[0] if given else None)
    try:
        if (now := _replaced(given)) is not None:
            raise BadInput(f"`hardgap {shlex.join(given)}` is `hardgap {shlex.join(now)}` now")
        result = app(given, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()  # here, where a full disk can still be told
    except BrokenPipeError:  # The reader of our output has seen enough.
        _write_no_more()
        sys.exit(0)
    except KeyboardInterrupt:
        goes_on = given[:1] in GO_ON or given[:2] in GO_ON
        complain("stopped" + "; what was finished is kept, and the same command goes on from there" * goes_on)
        sys.exit(130)
    except Exception as error:
        if os.environ.get("HARDGAP_DEBUG"):
            raise
        sentence = _explained(error, given)
        complain(sentence or f"a bug: {type(error).__name__}: {error}; HARDGAP_DEBUG=1 shows where, please report it")
        sys.exit(2 if sentence else BUG)
    sys.exit(result if isinstance(result, int) else 0)


def _replaced(given: list[str]) -> list[str] | None:
    """What stands in the place of a command that has gone, or of an option's old name."""
    match given:
        case ["tempered" | "symbolic", "document", *rest]:
            return ["document", *rest]
        case ["symbolic", "coverage", *rest]:
            return ["reproduce", "symbolic/coverage", *("--baselines" if one == "--keep" else one for one in rest)]
        case ["symbolic", "baselines", *rest] if "--keep" in rest:
            return ["symbolic", "baselines", *("--baselines" if one == "--keep" else one for one in rest)]
        case ["tempered", name, *rest] if not name.startswith("-"):
            return ["reproduce", f"tempered/{name}", *rest]
        case ["tempered", *rest]:
            return ["reproduce", "--list", "tempered", *rest]
        case _:
            return None


def _explained(error: Exception, given: list[str]) -> str:
    """One sentence for whatever is not a mistake in this program; nothing for what is."""
    match error:
        case CycloptsError():
            return " ".join(str(error).split())
        case Untrusted():
            return f"{error} (--trust)"
        case BadInput():
            return str(_about_option(error, given))
        case sqlite3.OperationalError():
            return f"the store cannot be used right now: {error}"
        case OSError(strerror=str(reason), filename=name):
            if name is None:  # no file of ours: our own output
                _write_no_more()
            return f"{'cannot write' if name is None else name}: {reason}"
        case OSError():
            return str(error)
        case UnicodeEncodeError(object=text):
            return f"{text!r:.60} cannot be written as text"
        case RecursionError():
            return "the input is nested too deeply"
        case MemoryError() | OverflowError():
            return f"a number in the input is too large for this machine: {str(error) or 'out of memory'}"
        case _:
            return ""


def _about_option(error: BadInput, given: list[str]) -> BadInput:
    """What the library says about an argument, about the option of that name, if it was typed."""
    typed = {token.partition("=")[0] for token in given}
    option = f"--{error.of.partition('.')[0].replace('_', '-')}"
    return error.about(option) if option in typed else error


def _write_no_more() -> None:
    """What is left in the buffer has nowhere to go; Python would complain about it at its end."""
    with suppress(OSError, ValueError):  # a stream without a file, as in tests
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refuse_fractions(app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Whole numbers are whole: `--steps 1.5` would otherwise be rounded."""
    for argument in arguments:
        if int in (argument.hint, *get_args(argument.hint)):
            for token in argument.tokens:
                if "." in token.value:
                    raise BadInput(f"{argument.name}: {token.value} is not a whole number")
