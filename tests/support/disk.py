"""A file system of its own with hardly any room."""

import shutil
import subprocess
from contextlib import contextmanager

import pytest


@contextmanager
def small(folder, size):
    """Mount it on a new folder; skip the test where that is not allowed."""
    folder.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if not shutil.which("mount") or subprocess.run(mounting, capture_output=True, check=False).returncode:
        pytest.skip("no file system may be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)
