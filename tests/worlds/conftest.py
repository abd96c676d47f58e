"""`toy/` is a world that a test puts into a copy of the package; here it can be imported by nobody."""

collect_ignore = ["toy"]
