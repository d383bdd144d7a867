"""Reads metrics with the parser of Prometheus's own client library."""

from prometheus_client.parser import text_string_to_metric_families

Metrics = dict[tuple[str, frozenset[str]], float]
"""Values by name and labels. A label is written as name=value."""


def parse_metrics(text: str) -> Metrics:
    return {
        (sample.name, frozenset(f"{name}={value}" for name, value in sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(metrics: Metrics, name: str, **labels: str) -> float:
    """Return the value of one series."""
    return metrics[f"tickover_{name}", frozenset(f"{label}={text}" for label, text in labels.items())]


def total(metrics: Metrics, name: str, **labels: str) -> float:
    """Return the sum of the series of a metric that have these labels."""
    wanted = {f"{label}={text}" for label, text in labels.items()}
    return sum(number for (found, has), number in metrics.items() if found == f"tickover_{name}" and wanted <= has)
