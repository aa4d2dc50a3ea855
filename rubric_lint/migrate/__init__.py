"""Rewrite suites of AgentV for another release."""
