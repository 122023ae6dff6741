"""Questions about graphs, and their answers: graphs in, facts out. Passes, host and kernels ask; nothing here changes a
graph or writes code."""
