"""Realistic signals: modulators, the air, the receiver; as endless streams and as training batches."""
