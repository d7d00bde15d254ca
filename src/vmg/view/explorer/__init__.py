"""The explorer: a page on which a run's graphs are seen, asked and given new tasks; its server.

`vmg explore RUN` serves it. `docs/explorer-api.md` has the endpoints.
"""
