"""The one error that reaches a person: what, where, what to do."""


class TraceError(Exception):
    """Something the person has to know, in one plain line.

    `exit_code` follows the command line's table: 2 wrong usage, 3 could not be read at all.
    """

    def __init__(self, message: str, exit_code: int = 3) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code


class Cancelled(Exception):  # noqa: N818 - it is no error
    """Loading was stopped because the person asked for it."""
