"""Do stores keep what `ObjectStore` promises?"""
