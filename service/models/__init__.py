"""Models in the service: which are kept and active, fitting of heads, predictions on request."""
