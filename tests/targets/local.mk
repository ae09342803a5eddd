# small programs to be traced
