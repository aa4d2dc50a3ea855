"""Asking a judge: answers to an endpoint that speaks the chat-completions protocol, and its outputs to a file."""
