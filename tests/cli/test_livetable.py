"""What the table of a workflow prints is one printable line each, whatever others have said."""

from wqc.cli.livetable import table
from wqc.runtime.manager.status import NodeStatus, SourceStatus, Status


def test_what_others_say_stays_in_its_line() -> None:
    said = "evil \x1b[31m reason\nline2\u202e"
    status = Status(
        (SourceStatus("names", said, up=False),), (), (NodeStatus("node", 1, said, ()),), idle=False
    )
    lines = table(status)[1:]
    assert lines == [
        r"names: evil \x1b[31m reason\nline2\u202e",
        r"node: evil \x1b[31m reason\nline2\u202e",
    ]
