# filled by the room
