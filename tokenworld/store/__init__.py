"""The run log that cannot lie: recording, reading, checking, exporting."""
