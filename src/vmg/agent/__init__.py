"""The agent: networks, graph and plan in one; its settings, its folder, its card."""
