"""What sources of the kinds `redis_list` and `redis_stream` have in common."""
