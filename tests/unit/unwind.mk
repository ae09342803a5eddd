# unit tests of unwind
