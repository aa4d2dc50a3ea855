"""Answer what editors ask besides completion: hovers, actions, outlines, renames."""
