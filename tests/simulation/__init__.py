"""Do longer interleavings, faults and lost answers leave the table right?"""
