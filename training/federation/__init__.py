"""Stations learn together over HTTP: they exchange updates of the encoder and keep their recordings."""
