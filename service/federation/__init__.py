"""The federation over HTTP: the coordinator's routes and page, and what this machine knows of federations."""
