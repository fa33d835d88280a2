"""NumPy references, number formats and test cases for linattn."""
