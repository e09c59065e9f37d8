"""Laws that a program proposes, such as a language model, through the same checks as our own."""
