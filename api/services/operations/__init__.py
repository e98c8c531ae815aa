"""What an operator looks at and looks after: duties, metrics and stored secrets.

May import `config`, `domain`, `secrets`, `services.idempotency`, `services.resources`, `services.settlement`,
`services.webhooks` and `storage`. Begin with `duty_health.py`.
"""
