"""Streams: how programs and points come in, and how records and files go out."""
