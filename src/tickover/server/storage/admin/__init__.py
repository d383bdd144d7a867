"""What operators do with a whole database: users, copies, statistics and checks. Calls of the API need none of it."""
