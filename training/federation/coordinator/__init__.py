"""The coordinator of a federation: rounds, accepted updates, aggregation, and what it keeps on disk."""
