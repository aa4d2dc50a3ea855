"""Send answers to a judge at a chat-completions endpoint and write its outputs to a file."""
