"""Where things are: the top of the checkout, and the folder of the tests."""

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
TOP = TESTS.parent
