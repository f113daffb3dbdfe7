"""The loss estimate against a simulated PUB, whose true loss is known."""

import random
from collections import deque

import pytest

from hardware.clock_loss import ClockLoss

RATE, QUEUE, MESSAGE = 1e6, 64, 4096


def simulate(
    *, pace=RATE, stalls=(), pauses=(), sender_queue=20, seconds=12.0, jitter_s=0.0, work_s=0.0, seed=1
):
    """Samples estimated and samples truly lost.

    A sender sends a message every MESSAGE / pace seconds, except while it pauses; what fits into neither the
    reader's nor the sender's queue is dropped. The reader stands still during its stalls. It sees only its
    own queue, which is empty for a moment before it is filled from the sender's.
    """
    rng = random.Random(seed)
    clock = ClockLoss(RATE, QUEUE)
    own: deque[float] = deque()  # when each message is there
    theirs: deque[float] = deque()
    sent, estimated, dropped, now = 0.0, 0, 0, 0.0
    stalls = deque(stalls)

    def send_until(moment):
        nonlocal sent, dropped
        while sent <= moment:
            if not any(start <= sent < start + length for start, length in pauses):
                arrives = sent + rng.random() * jitter_s
                if not theirs and len(own) < QUEUE:
                    own.append(arrives)
                elif len(theirs) < sender_queue:
                    theirs.append(arrives)
                else:
                    dropped += MESSAGE
            sent += MESSAGE / pace

    while now < seconds:
        send_until(now)
        if stalls and now > stalls[0][0]:
            now += stalls.popleft()[1]
            send_until(now)
        waited = not own or own[0] > now
        if waited:
            estimated += clock.empty(now)
            now += 1e-4
            while theirs and len(own) < QUEUE:
                own.append(theirs.popleft())
            while not own:
                send_until(sent)
            now = max(now, own[0])
        own.popleft()
        estimated += clock.arrived(now, MESSAGE, waited)
        now += 5e-5 + work_s
    return estimated, dropped


@pytest.mark.parametrize("pace", [RATE, 0.5 * RATE, 0.97 * RATE, 3 * RATE])
@pytest.mark.parametrize("jitter_s", [0.0, 0.05])
def test_no_loss_is_invented_for_jitter_another_pace_or_a_pause(pace, jitter_s):
    pauses = [(3.0, 2.0), (8.0, 0.4)]
    assert simulate(pace=pace, pauses=pauses, jitter_s=jitter_s) == (0, 0)


@pytest.mark.parametrize("pace", [RATE, 0.5 * RATE])
def test_no_loss_is_invented_where_the_queues_held_everything(pace):
    stalls = [(3.0, 0.2), (5.0, 1.0)]
    assert simulate(pace=pace, stalls=stalls, sender_queue=1000) == (0, 0)


def test_a_pause_during_a_stall_is_no_loss():
    assert simulate(pauses=[(3.0, 1.0)], stalls=[(2.95, 1.0)]) == (0, 0)


@pytest.mark.parametrize("pace", [RATE, 0.5 * RATE, 2 * RATE])
def test_a_loss_is_estimated_within_a_twentieth(pace):
    estimated, dropped = simulate(pace=pace, stalls=[(4.0, 2.0), (8.0, 1.0)])
    assert dropped > 0
    assert estimated == pytest.approx(dropped, rel=0.05)


def test_a_reader_that_never_catches_up_hears_of_a_loss():
    estimated, dropped = simulate(work_s=2 * MESSAGE / RATE, seconds=60.0)
    assert 0 < estimated <= dropped


def test_lag_is_how_far_the_reader_is_behind():
    clock = ClockLoss(RATE, QUEUE)
    clock.empty(1.0)
    clock.arrived(1.1, MESSAGE, waited=True)
    clock.arrived(2.1, 250_000, waited=False)
    assert clock.lag_s(2.1) == pytest.approx(0.75)
