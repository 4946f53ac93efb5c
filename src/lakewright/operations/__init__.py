"""What can a user do with a table? One module an operation, each telling its whole story."""
