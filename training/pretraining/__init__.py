"""Pretraining of encoders: recipes, initialisation, federated rounds, checkpoints and quick probes."""
