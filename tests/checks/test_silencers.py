"""Comments that allow findings."""

from support.findings import checked, line, places

HEAD = 'workflow w\nsource s: items { items = ["a"] }\n'
QUEUE = "queue q { from = s, worker = k }\n"
LATEST = 'worker k { image = "r/k:latest" }'


def told(worker: str, **options: object) -> list[str]:
    found = checked(HEAD + worker + "\n" + QUEUE, **options).findings
    return [line(each) for each in found if each.level.value != "note"]


def test_at_the_end_of_the_line() -> None:
    assert told(LATEST) == ["WQ701 3:20 the image `r/k:latest` has the tag `latest`"]
    assert told(f"{LATEST} # wqc: allow WQ701: it is rebuilt each night") == []


def test_on_a_line_of_its_own_above() -> None:
    assert told(f"# wqc: allow WQ701: it is rebuilt each night\n{LATEST}") == []
    assert told(f"# wqc: allow WQ701: it is rebuilt each night\n# (ask Ada)\n{LATEST}") == []
    assert told(f"# wqc: allow WQ701: it is rebuilt each night\n\n{LATEST}") == [
        "WQ901 3:14 there is no WQ701 here to silence",
        "WQ701 5:20 the image `r/k:latest` has the tag `latest`",
    ]


def test_several_codes_and_several_lines() -> None:
    worker = 'worker k { image = "r/k:latest", user = 0 }'
    assert [each[:5] for each in told(worker)] == ["WQ701", "WQ703"]
    assert told(f"{worker} # wqc: allow WQ701, WQ703: an old image") == []
    assert told(f"# wqc: allow WQ701: an old image\n# wqc: allow WQ703: and an odd one\n{worker}") == []
    assert told(f"{worker} # wqc: allow WQ701, WQ702: an old image") == [
        "WQ703 3:41 running as root is below the profile `restricted`",
        "WQ901 3:65 there is no WQ702 here to silence",
    ]


def test_only_its_own_line() -> None:
    text = HEAD + 'worker k {\n  image = "r/k:latest"\n} # wqc: allow WQ701: an old image\n' + QUEUE
    assert [each[:10] for each in places(text, ("WQ7", "WQ9"))] == ["WQ701 4:11", "WQ901 5:16"]


def test_notes_are_silenced_too() -> None:
    text = (
        "# wqc: allow WQ660: set by the build\n"
        + HEAD
        + LATEST
        + " # wqc: allow WQ611, WQ701: a toy\n"
        + QUEUE
    )
    assert places(text, ("WQ6", "WQ7", "WQ9")) == []


def test_without_a_reason() -> None:
    for end in ("", ":", ":   "):
        assert [each[:5] for each in told(f"{LATEST} # wqc: allow WQ701{end}")] == ["WQ701", "WQ902"]


def test_unknown_blocking_and_malformed() -> None:
    good = 'worker k { image = "r/k:1" }'
    assert told(f"{good} # wqc: allow WQ999: because") == ["WQ903 3:43 there is no finding WQ999"]
    assert told(f"{good} # wqc: allow WQ203: because") == [
        "WQ904 3:43 WQ203 can't be silenced: an attribute that the block doesn't take"
    ]
    for words in ("allow", "WQ701: because", "allow: WQ701", "disable WQ701: because"):
        assert told(f"{good} # wqc: {words}") == [f"WQ905 3:30 `# wqc: {words}` is no silencer"]
    assert told(f"{good} # what wqc: is") == []
    assert told(f"{good} # https://wqc:8080/") == []


def test_a_blocking_mistake_stays() -> None:
    text = HEAD + "worker k { imagine = 1 } # wqc: allow WQ203: because\n" + QUEUE
    assert {"WQ203", "WQ904"} <= {each[:5] for each in places(text, "WQ")}


def test_none_is_called_useless_while_something_was_not_looked_at() -> None:
    text = HEAD + f"{LATEST} # wqc: allow WQ410: because\nqueue q {{ from = t, worker = k }}\n"
    assert "WQ901" not in {each[:5] for each in places(text, "WQ")}
    assert "WQ901" in {each[:5] for each in places(text.replace("from = t", "from = s"), "WQ")}


LIBRARY = 'worker k { image = "r/k:latest" }%s\nworker g(tag) { image = "r/g:1", command = [tag] }%s\n'
IMPORTING = 'import "lib.wq" as lib\n' + HEAD + "queue q { from = s, worker = lib.k }\n"


def test_in_a_library() -> None:
    files = {"lib.wq": LIBRARY % ("", "")}
    assert places(IMPORTING, "WQ70", files) == [
        'WQ701 lib.wq:1:20 the image `r/k:latest` has the tag `latest` <"r/k:latest">'
    ]
    files = {"lib.wq": LIBRARY % (" # wqc: allow WQ701: an old image", " # wqc: allow WQ702: for some")}
    assert places(IMPORTING, "WQ70", files) == []
    assert places(IMPORTING, "WQ90", files) == [], "another workflow may need the second one"
    files = {"lib.wq": LIBRARY % (" # wqc: allow WQ701", "")}
    assert [each[:17] for each in places(IMPORTING, "WQ90", files)] == ["WQ902 lib.wq:1:35"]


def test_a_library_that_is_imported_twice_is_told_once() -> None:
    files = {"lib.wq": LIBRARY % ("", " # wqc: allow WQ702")}
    twice = 'import "lib.wq" as again\n' + IMPORTING
    assert [each[:17] for each in places(twice, "WQ70", files)] == ["WQ701 lib.wq:1:20"]
    assert len(places(twice, "WQ90", files)) == 1


def test_a_silencer_in_a_string_is_none() -> None:
    text = (
        HEAD
        + 'worker k {\n  image = "r/k:latest"\n  run = """\n    # wqc: allow WQ701: no\n    """\n}\n'
        + QUEUE
    )
    assert [each[:5] for each in places(text, ("WQ7", "WQ9"))] == ["WQ701"]
