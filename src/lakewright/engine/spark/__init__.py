"""Who runs the tasks on many machines, and evaluates what only Spark can? Public PySpark API only, so Connect works too."""
