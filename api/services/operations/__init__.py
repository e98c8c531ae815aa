"""What an operator looks at and looks after: duties, metrics, stored secrets, and what may be wrong.

May import `adapters`, `config`, `domain`, `doubtful_settings`, `secrets`, `services.audit`, `services.idempotency`,
`services.ledger`, `services.market`, `services.resources`, `services.settlement`, `services.webhooks` and `storage`.
Begin with `duty_health.py`.
"""
