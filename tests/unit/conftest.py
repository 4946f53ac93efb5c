"""How many random values does a property see? Enough to find what is wrong, few enough for the loop we work in."""

from hypothesis import HealthCheck, settings

settings.register_profile("fast", max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("fast")
