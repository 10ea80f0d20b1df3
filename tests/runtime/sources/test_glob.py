"""Glob patterns over paths."""

import pytest

from wqc.runtime.sources.glob import Glob


@pytest.mark.parametrize(
    ("pattern", "takes", "leaves"),
    [
        ("*", "a b.txt é☃ new\nline", "a/b .hidden"),
        ("*.mp4", "a.mp4 b.c.mp4", "a.mp4x a/b.mp4 .a.mp4"),
        ("**", "a a/b a/b/c.d", ".a a/.b a/.b/c"),
        ("**/*.mp4", "a.mp4 a/b.mp4 a/b/c.mp4", "a.mp3 .snapshot/a.mp4 a/.b.mp4"),
        ("in/**", "in/a in/b/c", "in a out/a"),
        ("in/**/x", "in/x in/a/x in/a/b/x", "in/a x"),
        ("**/a/**/b", "a/b x/a/b x/a/y/z/b a/a/b", "b a x/b"),
        ("?[0-9].txt", "a1.txt é2.txt", "aa.txt 11.txtx /1.txt"),
        ("[!a-c]x", "dx !x", "ax bx"),
        ("[]]x", "]x", "ax"),
        ("[a", "[a", "a"),
        (".config/*", ".config/a", ".config/.b config/a"),
        ("a.b(c)+$", "a.b(c)+$", "aXb(c)+$"),
        ("a/*/c", "a/b/c", "a/c a/b/b/c"),
    ],
)
def test_what_a_pattern_takes(pattern: str, takes: str, leaves: str) -> None:
    glob = Glob.of(pattern)
    assert [path for path in takes.split(" ") if not glob.matches(path)] == []
    assert [path for path in leaves.split(" ") if glob.matches(path)] == []


def test_where_keys_are_no_files_a_dot_is_a_character_like_others() -> None:
    glob = Glob.of("**", hidden=True)
    assert all(map(glob.matches, (".a", "a/.b", "a//b", "../a", "a/", "/a")))


def test_folders_in_which_nothing_can_match_are_not_entered() -> None:
    glob = Glob.of("in/*/x.txt")
    assert glob.enter(glob.start(), "in")
    assert not glob.enter(glob.start(), "out")
    below = glob.enter(glob.enter(glob.start(), "in"), "a")
    assert below
    assert not glob.enter(below, "b")
