"""The demo: the shipped recording on the air, by real ZMQ."""
