"""The model of `tw play`: the content of the screen, without Textual."""
