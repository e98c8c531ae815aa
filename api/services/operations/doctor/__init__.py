"""What may be wrong with an installation: each finding says what to do. Nothing is changed, and no secret is shown.

May import `adapters`, `config`, `domain`, `doubtful_settings`, `secrets`, `services.ledger`, `services.market`,
`services.operations.backups`, `services.operations.duty_health`, `services.operations.overdue_payments`,
`services.operations.redis_health`, `services.operations.stored_secrets`, `services.operations.writing`,
`services.resources`, `services.webhooks` and `storage`. Begin with `findings.py`.
"""
