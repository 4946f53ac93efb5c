"""What do catalogs that answer over a network do to tables?"""
