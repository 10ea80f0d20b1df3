"""What the compiler and the run time must agree on: names, limits, settings and the meaning of
expressions.
"""
