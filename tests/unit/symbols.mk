# unit tests of symbols
