"""Words: how names and values read, and what typed commands mean (language.md §11)."""
