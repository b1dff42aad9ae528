"""Pure values: briefs, seats, specs, events and the state folded from them.

Knows no text format, no I/O and no clock.
"""
