"""What does somebody who writes an adapter test it with? Stores, clocks and tables that behave, and fail as told."""
