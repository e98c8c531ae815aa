"""Exchanges on chains: one file for each, read by the adapter `chain`."""
