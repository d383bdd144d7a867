"""What can go wrong on the client's side; what the server refuses is a `Rejection`."""


class ClientError(Exception):
    """The base of the client's own errors. Its text is a sentence or two for a person."""


class Unreachable(ClientError):
    """The server gave no answer: no connection, or none that lasted, or not in time."""


class BadAnswer(ClientError):
    """What answered is not a Tickover server, or one that says what this client does not know."""


class NothingLeft(ClientError):
    """Nothing is pending or upcoming on the clock, so there is no next instant to go to."""
