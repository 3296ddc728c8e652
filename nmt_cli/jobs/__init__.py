"""Who does the work of translating: this process, worker processes, Ray. Knows nothing of formats or networks."""
