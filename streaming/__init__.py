"""What happens to every sample: front end, encoder, incremental engine, window, head, pipeline."""
