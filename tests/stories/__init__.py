"""Does planning decide rightly? Small tables, conditions and the answers, as text."""
