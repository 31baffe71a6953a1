"""Why a request is not answered: refused, or nobody waits for the answer."""


class Refused(Exception):
    """A request that is not served; its client gets `{"error": …}`."""

    def __init__(
        self, status: int, message: str, reason: str = "invalid", retry_after: int = 0
    ) -> None:
        """Says why.

        Args:
            status: Of HTTP.
            message: One line for the client.
            reason: One word for the metrics.
            retry_after: Seconds after which the client may try again; 0 where that would not help.
        """
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.retry_after = retry_after


class Abandoned(Exception):
    """The client has disconnected: nobody waits for an answer."""
