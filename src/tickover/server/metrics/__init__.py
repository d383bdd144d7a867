"""Metrics for Prometheus: numbers that all workers share, and the port that serves them."""
