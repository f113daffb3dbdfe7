"""What holds for every test."""

import os

from hypothesis import HealthCheck, settings

# Speed lives in benchmarks: a slow machine fails no test. CI tries the same examples each time.
settings.register_profile(
    "wavetell",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
settings.load_profile("wavetell")
