"""What a debate comes to: the result, its tables and its verdict.

Reads the fold; runs nothing and stores nothing.
"""
