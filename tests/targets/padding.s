# As many bytes of code as --defsym says; the linker puts sections without a place in its script after all other code.
	.section padding, "ax", @progbits
	.fill PADDING, 1, 0xcc
	.section .note.GNU-stack, "", @progbits
