"""What a test has to say to people, also where it runs beside others: `record_property(TOLD, text)`."""

TOLD = "told"
