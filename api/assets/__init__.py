"""The scripts, styles and pictures of the pages: joined, made small, compressed, and named by their content.

Imports nothing else of this tree. Begin with `files.py`.
"""
