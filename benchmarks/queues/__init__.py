"""The brokers that benchmarks/brokers.py measures: a real server each, and the plain client for it."""
