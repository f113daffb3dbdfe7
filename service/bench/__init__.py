"""Benchmarks: `wavetell bench NAME` is the module NAME, with its `add_arguments(parser)` and `run(args)`."""
