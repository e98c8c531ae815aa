"""The notebooks of `docs/notebooks`: Markdown that jupytext opens, with what each cell shows written below it."""
