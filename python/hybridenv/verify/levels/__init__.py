"""The five levels, one module each: `run(pair, work, tick)` returns a frozen result."""
