"""A folder of files that is a prompt in a browser."""
