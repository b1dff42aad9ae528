"""What can sit in a seat: one small protocol, one file a provider, one directory of doors (`registry.py`)."""
