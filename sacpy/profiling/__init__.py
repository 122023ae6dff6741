"""`sacpy profile`: where a program spends its time, line by line."""
