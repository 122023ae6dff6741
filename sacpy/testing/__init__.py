"""`sacpy test`: tests found in SaC files, run on one target or several, and reported."""
