"""Numbers of things in words: "1 edge", "2,000 vertices"."""


def counted(number: int, thing: str, things: str | None = None) -> str:
    """Say how many of something there are; `things` is its plural where that is more than an added s."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"
