"""The command line: arguments, the runner, help, completion and the man page."""
