"""The prompt: `engine` understands what is typed and keeps the names, `display` shows values, `commands` are the lines
that begin with a colon, `prompt` talks to a terminal."""
