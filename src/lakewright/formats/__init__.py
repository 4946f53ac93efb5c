"""How does each table format lay down what the model speaks of?"""
