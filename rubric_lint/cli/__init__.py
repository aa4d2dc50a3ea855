"""Define the commands: they parse options, call the engine and return exit codes."""

import gc

# Loading modules creates tens of thousands of objects that all stay. Collecting garbage every 700 objects, Python's
# default, would take a twentieth of the time of a small run.
gc.set_threshold(50_000)
