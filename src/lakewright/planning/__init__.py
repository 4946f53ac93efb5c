"""What do two or more operations decide in the same way? Pure functions from values to values."""
