"""What a run says: figures, the file of runs, what changed between two, Markdown and HTML. Begin with `figures.py`."""
