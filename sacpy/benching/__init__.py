"""`sacpy bench`: how long functions take, on targets side by side, and against an earlier state of the program."""
