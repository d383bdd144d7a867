"""Programs that Tickover is compared with: the same operations, written conventionally."""
