"""Does each format behave as the protocols promise?"""
