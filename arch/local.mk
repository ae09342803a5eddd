# arch/: the differences between processors, in one table per processor (arch.h). Programs with a port of
# x86 also link $(ZYDIS_LIBS), the decoder of instructions.
noinst_LIBRARIES += libarch.a
ABI_SOURCES = arch/abi.c arch/abi.h arch/abi_rules.h arch/elf_machine.c arch/path.c arch/path.h
libarch_a_SOURCES = arch/arch.c arch/arch.h arch/arch_code.h arch/arch_insns.h arch/arch_layouts.h arch/arch_memory.h \
	arch/arch_registers.h arch/arch_signal.h arch/arch_stack.h arch/arch_syscalls.h $(ABI_SOURCES)
libarch_a_CPPFLAGS = $(AM_CPPFLAGS) -DARCH_PORTS='$(ARCH_PORTS)'
ARCH_PORTS =
AARCH64_SOURCES = arch/aarch64/aarch64.c arch/aarch64/aarch64.h arch/aarch64/aarch64_insn.c \
	arch/aarch64/aarch64_emulate.c arch/aarch64/aarch64_plain.c \
	arch/aarch64/aarch64_calls.c arch/aarch64/aarch64_literals.c arch/aarch64/aarch64_path.c \
	arch/arm_condition.h arch/aarch64/abi_aarch64.c
if ARCH_AARCH64
libarch_a_SOURCES += $(AARCH64_SOURCES)
ARCH_PORTS += PORT(aarch64)
endif
if ARCH_X86
libarch_a_SOURCES += arch/x86/i386.c arch/x86/x86_calls.c arch/x86/x86_insn.c arch/x86/x86_insn.h \
	arch/x86/x86_emulate.c arch/x86/x86_emulate.h arch/x86/x86_arithmetic.c arch/x86/x86_arithmetic.h \
	arch/x86/x86_path.c arch/x86/x86_uprobe.c arch/x86/x86_uprobe_registers.h \
	arch/x86/x86_stack.c arch/x86/x86_registers.h arch/x86/abi_x86.c arch/x86/abi_i386.c
endif
# The port for the processor of the build comes first.
if ARCH_X86_64
libarch_a_SOURCES += arch/x86/x86_64.c arch/x86/abi_x86_64.c
ARCH_PORTS += PORT(x86_64)
endif
if ARCH_X86
ARCH_PORTS += PORT(i386)
endif
ARM_SOURCES = arch/arm/arm.c arch/arm_condition.h arch/arm/arm_relocate.c arch/arm/a32_decode.c \
	arch/arm/arm_insn.h arch/arm/thumb_decode.c \
	arch/arm/thumb_plain.c arch/arm/arm_emulate.c arch/arm/arm_calls.c arch/arm/arm_literals.c \
	arch/arm/arm_path.c \
	arch/arm/abi_arm.c
if ARCH_ARM
libarch_a_SOURCES += $(ARM_SOURCES)
ARCH_PORTS += PORT(arm)
endif
