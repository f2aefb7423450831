"""What training and adapting share: processes and device, agreement between processes, saved state, clocks.

May import `core` and torch; it knows neither what is trained nor on what.
"""
