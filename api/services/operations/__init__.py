"""What an operator looks at and looks after: duties, metrics and stored secrets."""
