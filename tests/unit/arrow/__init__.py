"""Do rows become files, value for value, with Arrow alone?"""
