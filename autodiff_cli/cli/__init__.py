"""The command line: options, reading of arguments, the runner, help, completion and the man page."""
