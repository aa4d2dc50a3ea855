"""Suites of AgentV: what each release reads of them, and their conversion to another release."""
