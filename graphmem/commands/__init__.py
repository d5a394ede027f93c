"""The commands of the `graphmem` program, a module per kind. Whatever is heavy is imported inside a command, so that `--help` is quick."""
