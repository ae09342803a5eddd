# unit tests of trace
