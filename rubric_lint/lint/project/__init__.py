"""The user's project: its settings, its files, and how they are opened and written.

Call `settings.SettingsFinder` for the settings of a file, `files.find` or, for suites of AgentV with the files
that they name, `suites.find` for the files to read, `opening.read_file` to read one, and `writing` to replace one.
"""
