"""A market block by block: recordings on disk, and the time machine that reads them.

May import `errors`, `formats`, `frames`, `json_faults`, `market`, `markets`, `model`, `router`, `snapshot` and
`values`. Begin with `history.py`.
"""
