"""Benchmarks beside their peers: `python -m benchmarks [--quick] [--json FILE] [--rows NAME ...]`.

Every row first shows that both sides computed the same thing and only then says how fast. What is compared runs in the
same process, in turn, and medians are reported, so that ratios hold on a busy machine where bare times do not.
"""
