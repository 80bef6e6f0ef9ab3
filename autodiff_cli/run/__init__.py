"""The run: a program on a tape, evaluated on demand and differentiated backward or forward."""
