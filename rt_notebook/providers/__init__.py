"""What can sit in a seat: one protocol, one file a provider, one directory of doors."""
