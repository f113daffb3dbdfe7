"""What `flwr run` starts; everything is in training.federation.flower."""

from training.federation.flower import make_client, make_server

client = make_client()
server = make_server()
