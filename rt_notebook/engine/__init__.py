"""Runs debates: who speaks when (pure), the one driver, the one background loop."""
