"""Protocol adapters: live rates into snapshots."""
