"""All markets at one moment, what identifies them, and other forms of them.

May import `errors`, `formats`, `markets`, `model`, `reference`, `sandbox` and `values`. Begin with `snapshot.py`.
"""
