"""The routes and pages of the server."""
