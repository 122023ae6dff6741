"""`sacpy dap`: a debug adapter, which editors talk to in the debug adapter protocol."""
