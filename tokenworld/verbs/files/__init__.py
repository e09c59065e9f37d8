"""The verbs that write worlds as files: a first world, and files in the one style."""
