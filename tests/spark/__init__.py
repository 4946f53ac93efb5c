"""Does the real engine do what the in-memory engine does?"""
