"""Where do objects lie, and how are they reached?"""
