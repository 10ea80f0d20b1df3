"""Text that already is what it says in the language that it stands in."""


class Encoded(str):
    """Printed as it stands: made by this package's encoders, never from what a user wrote."""

    __slots__ = ()
