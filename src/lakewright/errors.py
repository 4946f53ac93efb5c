"""Every error a user can see, grouped by what the user should do about it.

LakewrightError
├── InvalidRequest           change the request
├── Unsupported              this table or feature is out of reach
├── CommitConflict           run it again
├── RetriesExhausted         try later
├── CommitUnknown            look before you retry
├── CorruptTable             a person must look at the table
└── UnsuitableEnvironment    repair the installation
"""


class LakewrightError(Exception):
    """The parent of all errors that lakewright raises on purpose."""


class InvalidRequest(LakewrightError):
    """The request names something that does not exist, or asks for something that cannot be: change it."""


class Unsupported(LakewrightError):
    """The table, or a feature that it uses, is out of reach of this version; nothing was changed."""


class CommitConflict(LakewrightError):
    """Another writer won, and its change touches what this operation relied on; running again is safe."""


class RetriesExhausted(LakewrightError):
    """Other writers kept winning, or a catalog gave no answer, until the allowed attempts or time were used up; nothing was
    committed."""


class CommitUnknown(LakewrightError):
    """The answer to a commit was lost and looking did not settle it: look at the table before you retry."""


class CorruptTable(LakewrightError):
    """The table's own records contradict each other or are missing; a person must look at it."""


class UnsuitableEnvironment(LakewrightError):
    """Java, Spark or the Python of a worker does not fit; the message says what to install or set."""
