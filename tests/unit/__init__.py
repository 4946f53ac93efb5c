"""Does this function hold at its edges?"""
