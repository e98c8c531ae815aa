"""Pools of Balancer v1 and of the Balancer v2 vault."""
