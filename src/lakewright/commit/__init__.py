"""How does a prepared change become the newest version of a table, or get refused?"""
