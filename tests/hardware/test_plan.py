"""Plans of frequencies: the steps cover everything, and overlap."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardware.plan import Plan
from streaming.errors import ConfigError

RATE = 2.4e6


@given(st.floats(1e6, 1e9), st.floats(1e3, 2e8), st.floats(2e5, 2e7))
def test_steps_cover_all_and_what_is_narrower_than_a_fifth_of_the_rate_lies_whole_in_one(start, span, rate):
    centres = np.array(Plan(start, start + span).centres(rate))
    assert centres[0] - 0.4 * rate <= start + 1
    assert centres[-1] + 0.4 * rate >= start + span - 1
    assert (np.diff(centres) <= 0.6 * rate + 1).all()


def test_a_span_that_the_radio_sees_at_once_is_one_step_in_its_middle():
    assert Plan(433e6, 434e6).centres(RATE) == [433.5e6]


def test_a_smaller_step_gives_more_of_them():
    assert len(Plan(430e6, 440e6, step_hz=0.5e6).centres(RATE)) == 18  # ceil((10 - 1.92) / 0.5) + 1


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({"start_hz": 434e6, "stop_hz": 433e6}, "plan.start_hz is 434M; it must be below plan.stop_hz, 433M"),
        ({"start_hz": -1.0, "stop_hz": 433e6}, "plan.start_hz is -1.0; it must be a number from 0 to 1T Hz"),
        ({"start_hz": 1e6, "stop_hz": 2e6, "dwell_s": 0.0}, "plan.dwell_s is 0.0; it must be"),
        ({"start_hz": 1e6, "stop_hz": float("nan")}, "plan.stop_hz is nan; it must be"),
    ],
)
def test_a_plan_that_makes_no_sense_is_one_line(plan, message):
    with pytest.raises(ConfigError) as error:
        Plan(**plan)
    assert str(error.value).startswith(message)


def test_steps_with_holes_between_and_steps_without_end_are_refused():
    with pytest.raises(ConfigError, match=r"plan.step_hz is 2M; at 2.4M S/s it must be at most 1.92M"):
        Plan(430e6, 440e6, step_hz=2e6).centres(RATE)
    with pytest.raises(ConfigError, match="steps; it must have at most 10,000"):
        Plan(0, 1e12).centres(RATE)
