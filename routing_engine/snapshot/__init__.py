"""All markets at one moment, what identifies them, and other forms of them.

May import `formats`, `model`, `reference` and `sandbox`. Begin with `snapshot.py`.
"""
