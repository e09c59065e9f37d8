"""The words and the text of proposed rules."""
