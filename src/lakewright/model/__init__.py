"""What are the values that all layers speak of? Immutable, without behaviour that touches the world."""
