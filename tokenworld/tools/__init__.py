"""What people and programs use a session for: one module or package per tool."""
