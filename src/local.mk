# filled by the room
include src/postproc.mk
