"""Where Jobs run: on a Kubernetes, or as processes on this machine."""
