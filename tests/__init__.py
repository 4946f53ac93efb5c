"""What proves lakewright: tests by the question they answer."""
