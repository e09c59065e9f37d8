"""Words, signs and whole forms of other languages, each with its form in `.tw`."""
