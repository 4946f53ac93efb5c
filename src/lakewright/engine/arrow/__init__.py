"""What does one worker do to some files? With Arrow alone: no Spark is imported here."""
