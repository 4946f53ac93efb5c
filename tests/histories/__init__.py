"""Is a table read right at every point of its past, whatever other engines did to it?"""
