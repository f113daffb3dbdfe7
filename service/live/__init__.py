"""Live streams: reading, inference, and the answers on their way to readers."""
