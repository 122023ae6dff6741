"""What every room may use, and what knows nothing of SaC: files that are kept, nodes as plain data, names that are
alike."""
