"""What the server answers where it cannot do what is asked: a sentence, and a number that says whose fault it is."""

from vmg.base.errors import VMGError


class UnknownError(VMGError):
    """There is no such graph, vertex, plan or episode."""


class ImpossibleError(VMGError):
    """What is asked for is in order, but cannot be done with this run on this machine."""


class BusyError(VMGError):
    """As much is going on as is allowed at once."""


STATUS = {UnknownError: 404, ImpossibleError: 409, BusyError: 429}


def status_of(error: VMGError) -> int:
    """Return the number of an error; what is wrong with a request itself is 400."""
    return next((status for kind, status in STATUS.items() if isinstance(error, kind)), 400)
