"""A deployment of several processes under an open loop of orders, while its parts are killed and stopped.

``python -m tests.chaos.soak --rate 100 --minutes 10 --seed 7`` or ``make soak RATE=100 MINUTES=10 SEED=7``. It writes a
report with pictures into ``build/soak`` and fails where something was lost, done twice, or came too late. Begin with
`run.py`.
"""
