"""Who reads and writes rows? Arrow on one machine, Spark on many."""
