shake
shake
