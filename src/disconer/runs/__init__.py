"""Shared by training and adapting: device and processes, agreement between processes, saved state.

May import `core`, `nn.devices` and torch; knows nothing about models or data.
"""
