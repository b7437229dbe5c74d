"""PyBoy as a judge: both emulators play the same, and what differs is found and explained.

PyBoy 2.8.1 is the reference of ``profile="pyboy"``. `lockstep` plays both side by side and compares
picture, memories and clock after every frame; `trace` finds the first instruction that they do not
share. `hybridenv diverge-gameboy` is their command. PyBoy is not part of hybridenv:
``pip install "hybridenv[pyboy]"``.
"""
