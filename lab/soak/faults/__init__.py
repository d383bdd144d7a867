"""R6: faults of the database, the disk, the mail server, clients and the machine, while callers write."""
