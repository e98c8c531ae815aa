"""The shape of the tree: rooms, sizes, words and the way in; ``python -m tests.architecture`` prints the figures."""
