"""What the service keeps in its data folder: history, labels, recordings, and their names."""
