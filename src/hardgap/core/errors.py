"""The exceptions that a user is meant to read."""

from __future__ import annotations


class BadInput(ValueError):
    """Something given from outside cannot be used; the message is one clear sentence.

    The command line prints it on stderr and exits with 2; nothing has been changed. Where it begins with the name of
    an argument or of a config's field, `of` is that name, so that whoever has another name for it can say that one.
    """

    def __init__(self, sentence: str, *, of: str = "") -> None:
        super().__init__(sentence)
        self.of = of

    def about(self, name: str) -> BadInput:
        """The same about `name`, which `of` is called elsewhere."""
        sentence = str(self)
        return BadInput(name + sentence.removeprefix(self.of)) if self.of and sentence.startswith(self.of) else self


class NotMeasured(BadInput):
    """What is asked for is known, but too little of it has been measured to show it."""
