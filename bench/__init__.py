"""Numbers beside their targets: `python -m bench`. One run, arms interleaved, medians of rounds, the machine's noise printed."""
