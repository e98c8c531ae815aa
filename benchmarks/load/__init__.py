"""The service under load, beside applications that do nothing but the least of the same.

May import `tests.support`; the service itself is started as a process. Begin with `__main__.py`.
"""
