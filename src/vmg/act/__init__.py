"""Acting: plans, and the policies that follow them."""
