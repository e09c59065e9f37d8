"""The language server (`tw lsp`): answers the requests of editors about a text under edit."""
