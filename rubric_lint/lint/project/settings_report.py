"""Report the settings in effect, and which rules run."""

from pathlib import Path
from typing import Any

from rubric_lint.lint.project.settings import SettingsFinder, shorten_path
from rubric_lint.model.schema_files import load
from rubric_lint.rules import BY_NAME


def report_settings(path: str, finder: SettingsFinder) -> dict[str, Any]:
    """Return as JSON the settings in effect for the file or folder at `path`, and the rules that run and do not there.

    Each setting has its value as in TOML (None: not set) and its sources, such as `default` or a file.

    Raises:
        SettingsError: if the nearest settings file is invalid.
    """
    folder = Path(path) if Path(path).is_dir() else Path(path).parent
    found, overrides = finder.for_folder(folder), finder.overrides
    file = found.origin and shorten_path(found.origin)
    settings = {}
    for name, schema in load("config/v1.json")["properties"].items():
        value = found.table.get(name, schema.get("default"))
        sources = [file] if file and name in found.table else ["default"]
        if name == "select" and overrides.select is not None:
            value, sources = sorted(overrides.select), ["--select"]
        elif name == "ignore" and overrides.ignore:
            value = sorted({*(value or ()), *overrides.ignore})
            sources = [*(source for source in sources if source != "default"), "--ignore"]
        settings[name] = {"value": value, "sources": sources}
    of_path = found.for_file(path)
    on = [name for name in BY_NAME if of_path.enabled is None or name in of_path.enabled]
    rules = {"on": on, "off": [name for name in BY_NAME if name not in on]}
    return {"path": path, "settings_file": file, "settings": settings, "rules": rules, "version": of_path.version}
