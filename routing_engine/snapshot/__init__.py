"""All markets at one moment, what identifies them, and other forms of them.

May import `errors`, `formats`, `frames`, `market`, `markets`, `model`, `reference`, `sandbox`, `token_fields` and
`values`. Begin with `snapshot.py`.
"""
