"""Set-up scripts behind the Makefile; standard library only, since they run before any install."""
