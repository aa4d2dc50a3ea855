"""Files in, findings and fixes out.

Call `engine.lint` for one file, `fix.fix` to fix it, `run.linting` for many. `project/` has settings, files and how
they are opened and written, `run/` the cache, baselines, Git and watching.
"""
