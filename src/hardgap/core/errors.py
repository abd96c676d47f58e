"""The one exception that a user is meant to read."""


class BadInput(ValueError):
    """Something given from outside cannot be used; the message is one clear sentence.

    The command line prints it on stderr and exits with 2; nothing has been changed.
    """
