"""What operators do with a whole database: users and statistics. Calls of the API need none of it."""
