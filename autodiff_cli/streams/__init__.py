"""Input and output: requests, files, file systems, progress, interruption."""
