"""What people do with a gradient: each question takes plain values and gives one frozen answer."""
