# As many bytes of code as --defsym says; the linker puts sections that it has no place for behind all other code.
	.section padding, "ax", @progbits
	.fill PADDING, 1, 0xcc
	.section .note.GNU-stack, "", @progbits
