"""What can be measured: generated markets (``quick``), also to 200,000 pools (``growth``), recorded ones (``full``),
or a folder of one's own.

Begin with `quick.py`.
"""
