"""What other languages write, and what to write instead: words and signs, then whole forms."""
