"""`wqc-runtime batch`: the sidecar of a batch's pods, which has the broker's messages worked off."""
