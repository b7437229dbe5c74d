"""How fast a real Game Boy is."""

CLOCK_HZ = 4_194_304
"""Clock cycles (T-cycles) in a second. Source: Pan Docs, "Specifications"."""

CYCLES_PER_FRAME = 154 * 456
"""Clock cycles of a frame: 154 lines of 456. Source: Pan Docs, "Rendering overview"."""

FRAMES_PER_SECOND = CLOCK_HZ / CYCLES_PER_FRAME
"""Frames in a second of the machine's own time, about 59.7."""
