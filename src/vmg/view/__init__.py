"""Pictures: what people would rather look at than read."""
