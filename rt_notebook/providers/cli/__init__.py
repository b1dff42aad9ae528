"""Seats whose model is reached by a vendor's own command, run once per call as a child process."""
