"""The web server: application, middleware, tokens, connection limits and metrics."""
