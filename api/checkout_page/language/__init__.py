"""The page's texts in each language, and which of them a visitor reads.

Imports nothing else of this tree. Begin with `strings.py`.
"""
