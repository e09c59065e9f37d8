"""The morning report as Markdown and as one HTML file; what it says comes from `quality`."""
