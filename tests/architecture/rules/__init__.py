"""One module for each family of rules; a rule takes a module's source and names the places that break it."""
