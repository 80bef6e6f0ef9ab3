"""The command line: arguments, runner, help, completion, man page."""
