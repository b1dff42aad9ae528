"""Who speaks when, and doing it: pure decisions (`review`, `gate`, `limits`, `commands`) and one driver (`debate`)."""
