"""Answers that can be given again: a request, the snapshot it was asked on, and what was answered, in one file.

May import `certificate`, `errors`, `fixed_point`, `formats`, `model`, `request`, `result`, `route`, `router`,
`snapshot` and `values`. Begin with `archive.py`.
"""
