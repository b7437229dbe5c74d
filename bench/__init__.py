"""Speed of hybridenv beside its peers: ``python -m bench``.

A run plays the same games with the same buttons on every side, interleaved (A B A B ...), each
side in its own process, and writes one JSON file. The tables of the README are generated from
that file by ``python -m bench.readme_table``.
"""
