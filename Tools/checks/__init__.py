"""What Tools/check checks, a file for each matter."""
