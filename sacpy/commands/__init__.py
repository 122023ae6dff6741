"""The command line: `options` takes it apart, and a file has what each larger command does; `sacpy.cli` calls them."""
