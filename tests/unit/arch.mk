# unit tests of arch
