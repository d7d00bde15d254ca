"""Value Memory Graph: a graph-structured world model for offline reinforcement learning."""
