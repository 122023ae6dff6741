"""Nothing: what a process takes by itself."""
