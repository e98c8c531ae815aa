"""What the Flask application does around its answers: who calls, which headers, compression, pages and files.

May import `assets`, `checkout_page`, `context`, `domain` and `services`. Begin with `security.py`.
"""
