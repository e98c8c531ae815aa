"""Pictures of the page in every state and look: `make page`. To add a state, write a function in `states.py`."""
