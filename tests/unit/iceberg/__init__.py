"""Do Iceberg's records say what they are to say, and are damaged ones refused?"""
