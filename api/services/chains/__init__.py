"""Access to chains for building payments: endpoints to try them on, what tokens say of themselves, screening."""
