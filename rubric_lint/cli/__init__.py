"""The commands: options in, exit codes out, nothing else."""
