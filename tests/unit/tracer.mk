# unit tests of tracer
