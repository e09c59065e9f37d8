"""The game behind the screen: what `tw play` shows, without Textual."""
