"""Files to text: detection of the file type and text extraction, within limits and in separate processes."""
