"""Measurements. Each prints ratios within one run, because machines are noisy and absolute times prove nothing."""
