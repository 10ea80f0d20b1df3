"""What sources and carriers of the kind `kafka` have in common."""
