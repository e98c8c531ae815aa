"""Many requests at once: over arrays, files, threads and processes, with everything compiled beforehand."""
