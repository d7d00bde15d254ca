"""What every other package may use: errors, types, files, console, statistics, settings, registries."""
