"""Other tools' files, one module a format."""
