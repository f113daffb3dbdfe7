"""A station of a federation: its loop, local training, and deployment of what was learnt."""
