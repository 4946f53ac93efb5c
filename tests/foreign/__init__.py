"""Do we read what other engines wrote? Their rows, or a refusal that names the reason; never other rows."""
