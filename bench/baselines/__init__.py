"""What Tickover is compared with: the same operations, written as they are usually written."""
