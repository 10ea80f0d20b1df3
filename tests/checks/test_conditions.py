"""Conditions are read, typed and weighed before they meet an item."""

import pytest

from support.findings import advice, checked, places

HEAD = """workflow w
param limit = 3
param dev   = true
source s: http { url = "https://example.com" }
source files_s: files { path = "/m", volume = pvc("m") }
worker k { image = "r/k:1" }
queue q { from = f, worker = k }
queue r { from = g, worker = k }
filter g { from = files_s, where = item.data.size > 0 }
"""


def where(condition: str, source: str = "s") -> str:
    text = HEAD + f"filter f {{ from = s, where = {condition} }}\n"
    return (
        text
        if source == "s"
        else text.replace("from = s,", "from = t,")
        .replace("from = files_s", "from = s")
        .replace("filter f { from = t", "filter f { from = files_s")
    )


@pytest.mark.parametrize(
    "condition",
    [
        'item.name == "a"',
        "item.data",
        "has(item.data.a) && item.data.a > 3",
        "has(item.data.a.b) && item.data.a.b.startsWith('x')",
        'item.data["a b"] in ["x", \'y\']',
        "[1, 2].exists(each_one, each_one == size(item.name))",
        "item.name.matches(r'^\\d+$')",
        'item.name == "# no comment"  # a comment',
        "size(item.name) > param.limit && param.dev",
        'item.name == "a" || false',
        'item.name == "a" || 1 / 0 == 1',
    ],
)
def test_nothing_to_say(condition: str) -> None:
    assert places(where(condition), "WQ3") == []


@pytest.mark.parametrize(
    ("condition", "finding", "help"),
    [
        (
            "item.data.a == 5m",
            "WQ301 10:46 a condition can't be read here: `m` isn't expected <m>",
            "conditions have no units",
        ),
        (
            "item.name == if",
            "WQ301 10:43 a condition can't be read here: `if` is a word that CEL keeps for itself <if>",
            "write",
        ),
        (
            "item.data.a == 99999999999999999999",
            "WQ301 10:45 a condition can't be read here: this number is too large <9",
            "",
        ),
        ("size(item.data.a, )", "WQ301 10:48 a condition can't be read here: `)` isn't expected <)>", ""),
        (
            "item.dat.x == 1",
            "WQ302 10:30 conditions have no `item.dat` <item.dat>",
            "did you mean `item.data`? there is",
        ),
        (
            "item.names == 'x'",
            "WQ302 10:30 conditions have no `item.names` <item.names>",
            "did you mean `item.name`? there is",
        ),
        (
            "limit > 3",
            "WQ302 10:30 conditions have no `limit` <limit>",
            "params have `param.` before them: `param.limit`",
        ),
        (
            "param.limt > 3",
            "WQ302 10:30 conditions have no `param.limt` <param.limt>",
            "did you mean `param.limit`? there is `param.limit` and `param.dev`",
        ),
        (
            "country == 'x'",
            "WQ302 10:30 conditions have no `country` <country>",
            "did you mean `item.data.country`?",
        ),
        (
            "item == 'x'",
            "WQ302 10:30 conditions have no `item` <item>",
            "there is `item.name`, `item.version` and `item.data`",
        ),
        (
            "item.name.startWith('x')",
            "WQ302 10:40 conditions have no `startWith()` <startWith>",
            "did you mean `startsWith`?",
        ),
        (
            "nme.startsWith('x')",
            "WQ302 10:30 conditions have no `nme` <nme>",
            "did you mean `item.data.nme`?",
        ),
        ("item.name > 3", "WQ303 10:40 `>` doesn't go with a string and an integer <>>", ""),
        ("item.name.x == 1", "WQ303 10:40 a string has no `x` <x>", ""),
        ("!item.name", "WQ303 10:30 a string has no `!` <!>", ""),
        ("size(3) == 3", "WQ303 10:30 an integer has no `size` <size>", ""),
        ("[1] == ['a']", "WQ303 10:34 `==` doesn't go with `list(int)` and `list(string)` <==>", ""),
        ("item.name == 'a' ? true : 1", "WQ303 10:47 `? :` doesn't go with a boolean and an integer <?>", ""),
        (
            "item.name ? true : false",
            "WQ304 10:40 this gives a string, and true or false is needed <?>",
            "put",
        ),
        (
            "item.name",
            "WQ304 10:30 this gives a string, and true or false is needed <item.name>",
            "compare it with something",
        ),
        ("[item.data]", "WQ304 10:30 this gives a list, and true or false is needed <[item.data]>", ""),
        ("true", "WQ305 10:30 this is always true, whatever the item <true>", "use something of the item"),
        ("1 + 1 == 3", "WQ305 10:30 this is always false, whatever the item <1 + 1 == 3>", ""),
        (
            "1 / 0 == 1",
            "WQ305 10:30 this is always a failure (INVALID_ARGUMENT: divide by zero), whatever the item <1",
            "",
        ),
        (
            "param.limit > 3",
            "WQ305 10:30 this is always false, whatever the item, as `param.limit` says <param",
            "",
        ),
        (
            "true || item.data.size > 1",
            "WQ305 10:30 this is always true, whatever the item <true || item.data.size > 1>",
            "use something of the item",
        ),
        ("item.data.a == 1 && false", "WQ305 10:30 this is always false, whatever the item <item", ""),
        ("!(false && has(item.data.x))", "WQ305 10:30 this is always true, whatever the item <!(", ""),
        ("true ? true : item.data.x", "WQ305 10:30 this is always true, whatever the item <true", ""),
        ("[1].all(param, param > 0)", "WQ305 10:30 this is always true, whatever the item <[", ""),
        ("[1, 2].all(x, x < 3 || item.data.x)", "WQ305 10:30 this is always true, whatever the item <[", ""),
        (
            "item.data.a == 1 || param.dev",
            "WQ305 10:30 this is always true, whatever the item, as `param.dev` says <item",
            "",
        ),
        (
            "item.data.a == 1 && false && param.dev",
            "WQ305 10:30 this is always false, whatever the item <item",
            "",
        ),
        (
            "has(item.name)",
            "WQ307 10:34 `item.name` is always there, and `has` asks for",
            "remove",
        ),
        (
            "item.name.matches('[a')",
            "WQ308 10:48 this regular expression can't be read: missing ]: [a <'[a'>",
            "",
        ),
    ],
)
def test_what_is_wrong(condition: str, finding: str, help: str) -> None:
    text = where(condition)
    (found,) = places(text, "WQ3")
    assert found.startswith(finding)
    assert " ".join(advice(text, finding[:5])).startswith(help)


def test_every_wrong_name_of_a_condition() -> None:
    assert [line[:13] for line in places(where("item.dat.a == 1 && bogus && item.name > 3"), "WQ3")] == [
        "WQ302 10:30 c",
        "WQ302 10:49 c",
        "WQ303 10:68 `",
    ]


def test_places_in_a_condition_of_several_lines() -> None:
    condition = (
        'item.data.a == "# é 😀" &&  # item.dat\n'
        "    item.name > 3 ||\n"
        "\t# between\n"
        "    (item.dat.b in [\n"
        "      1,  # one\n"
        "      bogus ])"
    )
    assert places(where(condition), "WQ3") == [
        "WQ303 11:15 `>` doesn't go with a string and an integer <>>",
        "WQ302 13:6 conditions have no `item.dat` <item.dat>",
        "WQ302 15:7 conditions have no `bogus` <bogus>",
    ]


def test_known_fields_are_listed_and_typed() -> None:
    assert places(where("item.data.pth == 'x'", "files"), "WQ302") == [
        "WQ302 10:36 conditions have no `item.data.pth` <item.data.pth>"
    ]
    assert advice(where("item.data.pth == 'x'", "files"), "WQ302") == [
        "did you mean `item.data.path`? there is `item.data.path`, `item.data.name`, `item.data.size`"
        " and `item.data.modified`"
    ]
    assert advice(where("item.data.zzz == 'x'", "files"), "WQ302") == [
        "there is `item.data.path`, `item.data.name`, `item.data.size` and `item.data.modified`"
    ]
    assert advice(where("item.data == 'x'", "files"), "WQ302") == [
        "there is `item.data.path`, `item.data.name`, `item.data.size` and `item.data.modified`"
    ]
    assert places(where("has(item.data.path)", "files"), "WQ307") == [
        "WQ307 10:40 `item.data.path` is always there, and `has` asks for fields that may be missing"
        " <item.data.path>"
    ]


def test_a_field_that_may_be_missing() -> None:
    text = where("item.data.a == 1 || has(item.data.b) && item.data.b == item.data.c.d.size()")
    assert places(text, "WQ3") == [
        "WQ306 10:30 an item without `item.data.a` or `item.data.c.d` goes to `f.failed` <item.data.a>"
    ]
    assert advice(text, "WQ306") == ["if that isn't meant: has(item.data.a) && has(item.data.c.d) && …"]


def test_cases_and_keys() -> None:
    text = HEAD.replace("from = f,", "from = p.x,") + (
        "splitter p { from = t, cases = { x = item.nme == 'x', y = item.name }, otherwise = drop }\n"
        'source t: items { items = ["a"] }\n'
        "sharder h { from = s, key = timestamp(item.name), shards = [a, b] }\n"
        "sharder i { from = q, key = 'x', shards = [c, d] }\n"
        "queue u { from = p.failed, worker = k }\n"
        "sharder j { from = u, key = item.data.customer, shards = [c, d] }\n"
    )
    assert places(text, "WQ3") == [
        "WQ302 10:38 conditions have no `item.nme` <item.nme>",
        "WQ304 10:59 this gives a string, and true or false is needed <item.name>",
        "WQ304 12:29 this gives a time, and a key is needed <timestamp(item.name)>",
        "WQ305 13:29 this is always the same, whatever the item <'x'>",
    ]


def test_a_param_that_switches_a_filter_is_a_note() -> None:
    def level(condition: str) -> str:
        (found,) = (each.level.value for each in checked(where(condition)).findings if each.code == "WQ305")
        return found

    assert (level("param.dev"), level("1 < 2")) == ("note", "warning")
