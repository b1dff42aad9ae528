"""The ways a person meets a debate: notebook cells, forms, terminals; decides nothing about one."""
