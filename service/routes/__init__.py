"""The routes, one noun a file; each file has a `router`."""
