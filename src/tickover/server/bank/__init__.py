"""A bank whose time is a clock's: other views of a schedule, for programs that speak SimpleFIN or Plaid."""
