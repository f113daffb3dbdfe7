"""Whatever JSON holds is either a checked value that can be written again, or one clear line."""

import json
from dataclasses import dataclass, field
from typing import Annotated, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streaming.bundle_meta import Meta
from streaming.checked import Checked, Range, as_json, from_json
from streaming.errors import ConfigError
from streaming.shape import EncoderShape


@dataclass(frozen=True)
class Inner(Checked):
    kind: Literal["inner"] = "inner"
    share: Annotated[float, Range(0, 1)] = 0.5


@dataclass(frozen=True)
class Other(Checked):
    kind: Literal["other"] = "other"
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outer(Checked):
    count: Annotated[int, Range(-3, 10**6)]
    part: Inner | Other = field(default_factory=Inner)
    pair: tuple[bool, str] | None = None
    table: dict[str, tuple[Annotated[int, Range(0, 9)], ...]] = field(default_factory=dict)


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=5)
KEYS = st.sampled_from([
    "count", "part", "pair", "table", "kind", "share", "names", "front_end", "agc_samples", "has_features",
    "provenance", "evaluation", "fitted", "command", "by_snr", "federation", "channels", "depth",
]) | st.text(st.characters(), max_size=3)  # fmt: skip
ANYTHING = st.recursive(
    SCALARS | st.sampled_from(["inner", "other", "level", "front end"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)


@given(ANYTHING, st.sampled_from([Outer, Meta, EncoderShape]))
@settings(max_examples=2_000, deadline=None)
def test_anything_is_taken_and_written_again_or_refused_in_one_line(value, kind):
    found, line = None, ""
    try:
        found = from_json(kind, value, "it")
    except ConfigError as error:
        line = str(error)
    assert "\n" not in line
    assert len(line) < 400
    line.encode()
    if found is not None:
        text = json.dumps(as_json(found), allow_nan=False)
        assert from_json(kind, json.loads(text), "it") == found


def test_a_value_becomes_its_type_and_what_is_absent_is_not_written():
    made = Outer(count=3, part=Inner(share=1), table={"a": [1, 2]})
    assert (made.part.share, made.table) == (1.0, {"a": (1, 2)})
    assert as_json(made) == {"count": 3, "part": {"kind": "inner", "share": 1.0}, "table": {"a": [1, 2]}}
    assert from_json(Outer, as_json(made), "it") == made


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "it is a list; it must be an object"),
        ({}, "it lacks count"),
        ({"count": 1, "counts": 2}, "it has an entry 'counts'; it may have count, part, pair, table"),
        ({"count": 1.5}, "it.count is 1.5; it must be a whole number of at least -3"),
        ({"count": 10**7}, "it.count is 10000000; it must be at most 1000000"),
        ({"count": False}, "it.count is False; it must be a whole number"),
        ({"count": 1, "part": {"kind": "third"}}, "it.part.kind is 'third'; it must be inner or other"),
        ({"count": 1, "part": {"kind": "other", "share": 1}}, "it.part has an entry 'share'"),
        ({"count": 1, "part": {"kind": "inner", "share": float("nan")}}, "it.part.share is nan"),
        ({"count": 1, "pair": [True]}, "it.pair is a list; it must be a list of 2 entries"),
        ({"count": 1, "pair": [True, "\x07"]}, "it.pair[1] is '\\x07'; it must be a text"),
        ({"count": 1, "table": {"a": [1, 10]}}, "it.table.a[1] is 10; it must be at most 9"),
        (
            {"count": 1, "table": {"a": [1] * 1001}},
            "it.table.a is a list; it must be a list of at most 1,000",
        ),
        ({"count": 1, "table": {"a\nb": [10]}}, "a name in it.table is 'a\\nb'"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(value, message):
    with pytest.raises(ConfigError) as caught:
        from_json(Outer, value, "it")
    assert message in str(caught.value)
