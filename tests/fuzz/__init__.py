"""What is made of bytes that were damaged, or made to do damage? A refusal that names the reason, and never other rows."""
