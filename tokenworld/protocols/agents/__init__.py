"""``tw mcp``: worlds for agents, over the Model Context Protocol.

`verb` starts the server that `server` puts together from `tools` (the verbs), `games` and `texts`
(resources and prompts). A tool that may take long runs a verb in a child process: `processes`
starts it, `working` is the child. `files` decides which files may be read and written.
"""
