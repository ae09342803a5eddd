# unit tests of analysis
