"""Jobs on a Kubernetes."""
