"""What can be asked: a folder a capability, with its questions, views, Python functions and
commands.
"""
