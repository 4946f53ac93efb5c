"""Is a prepared change published, or refused, for the right reasons?"""
