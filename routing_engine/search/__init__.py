"""From a request to exact answers: paths, splits, alternatives, and why there is none."""
