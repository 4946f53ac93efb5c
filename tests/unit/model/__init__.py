"""Do the words of the model mean what the specification says?"""
