"""Do the decisions that operations share hold at their edges?"""
