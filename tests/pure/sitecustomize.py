"""Blocks our compiled libraries, for a program with this folder in PYTHONPATH and for all that it starts."""

import sys
from importlib.abc import MetaPathFinder

BLOCKED = ("_ruamel_yaml", "jsonschema_rs", "msgspec")


class Blocker(MetaPathFinder):
    def find_spec(self, fullname, path=None, target=None):  # noqa: ARG002 (the import system's own names)
        if fullname.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"{fullname} is blocked", name=fullname)


sys.meta_path.insert(0, Blocker())
