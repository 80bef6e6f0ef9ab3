"""Programs as code of other languages."""
