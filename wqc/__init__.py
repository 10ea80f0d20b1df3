"""A compiler from work queues to plain Kubernetes objects and one small manager."""

__version__ = "0.1.0"
