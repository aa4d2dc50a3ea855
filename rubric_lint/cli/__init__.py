"""The commands: options in, exit codes out, nothing else."""

import gc

# Loading modules makes tens of thousands of objects that all stay. Looking for garbage among them every 700 objects, as
# Python does, is a twentieth of the time that a small run takes.
gc.set_threshold(50_000)
