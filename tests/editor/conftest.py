"""Runs the tests that are coroutines, and gives them an editor."""

import asyncio
import inspect
import sys

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run the tests that are coroutines, on the loop of the editors where tests have them."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    run = sys.modules["editor"].run if "editor" in sys.modules else asyncio.run  # its libraries are not everywhere
    run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}))
    return True


@pytest.fixture
def editor():
    """An editor with a server that other tests use too, outside of any folder."""
    from editor import common  # noqa: PLC0415

    yield common()
    assert common().client.messages == [], "the server pops something up"
