"""The language server (`tw lsp`): what editors ask about a text under edit."""
