"""One reader for each document type; each is imported only in the child process."""
