"""What people do with a gradient: each method takes plain values and returns a plain frozen dataclass."""
