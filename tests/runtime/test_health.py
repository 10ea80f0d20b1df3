"""When a lane counts as unhealthy, and when it is well again."""

from wqc.runtime.lanes.health import Health

ITEMS = [bytes([number]) for number in range(5)]


def health() -> Health:
    return Health(("a", "b"), window=300, probe=60)


def failing(lane: str, items: list[bytes], now: float) -> Health:
    made = health()
    for item in items:
        made.failed(lane, item, 10, now)
    return made


def test_three_different_items() -> None:
    assert failing("a", ITEMS[:2] * 3, 1000).is_well("a")
    assert failing("a", ITEMS[:3], 1000).healthy == ["b"]


def test_fewer_where_there_can_be_no_three() -> None:
    made = health()
    made.failed("a", ITEMS[0], 1, 0)
    assert not made.is_well("a")


def test_failures_long_ago_do_not_count() -> None:
    made = failing("a", ITEMS[:2], 1000)
    made.failed("a", ITEMS[2], 10, 1301)
    assert made.is_well("a")
    made.failed("a", ITEMS[3], 10, 1302)
    made.failed("a", ITEMS[4], 10, 1303)
    assert not made.is_well("a")


def test_a_success_in_the_last_five_minutes_speaks_for_the_lane() -> None:
    made = health()
    made.succeeded("a", 1000)
    for item in ITEMS:
        made.failed("a", item, 10, 1299)
    assert made.is_well("a")
    made.failed("a", ITEMS[0], 10, 1301)
    assert not made.is_well("a")


def test_it_stays_unhealthy_until_an_item_succeeds() -> None:
    made = failing("a", ITEMS, 1000)
    made.failed("a", ITEMS[0], 10, 9000)
    assert not made.is_well("a")
    made.succeeded("a", 9001)
    assert made.is_well("a")


def test_one_probe_a_minute() -> None:
    made = failing("a", ITEMS, 1000)
    assert made.next_probe("a") == 1060
    made.probes("a", 1075)
    assert made.next_probe("a") == 1135


def test_an_only_lane_is_always_well() -> None:
    made = Health(("",), 300, 60)
    for item in ITEMS:
        made.failed("", item, 10, 1000)
    assert made.is_well("")


def test_what_still_cannot_start_counts_once_the_last_success_is_old() -> None:
    made = health()
    made.succeeded("a", 1000)
    for item in ITEMS[:3]:
        made.failed("a", item, 10, 1001)
    assert made.is_well("a")
    assert made.next_look("a") == 1300
    for item in ITEMS[:3]:
        made.failed("a", item, 10, 1300)
    assert not made.is_well("a")
    assert made.next_look("a") == 1360
