"""Input and output: requests, files, remote file systems, progress and interruption."""
