"""One reader for each kind of document; each is imported only in the process that reads files."""
