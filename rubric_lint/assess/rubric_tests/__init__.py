"""Test rubrics: answers of known worth, recorded judge outputs, and the scores that they must get.

`running.Runner` runs the tests of files, `reviewing` adds coverage, catch rate and mutation, `recorder.Recorder` has
missing outputs judged, and `starting` writes first tests.
"""
