# The dependencies of objects: for each object, the compiler writes the names of the headers that it read to a file *.d
# in the object's folder. Automake's own method is not used, because it starts six more processes per object, which take
# a third of the time of a small object. The rule without commands keeps make from searching for a rule for these files.
%.d: ;
-include $(shell find arch bench context examples modules src tests -name '*.d' -type f 2>/dev/null)
