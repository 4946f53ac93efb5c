"""Do the rules that a machine can check hold, and does each rule notice when it is broken?"""
