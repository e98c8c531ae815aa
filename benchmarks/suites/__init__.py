"""What can be measured: generated markets (``quick``), recorded ones besides (``full``), or a folder of one's own.

Begin with `quick.py`.
"""
