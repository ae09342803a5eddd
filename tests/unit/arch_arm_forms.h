/* Forms of 32-bit ARM's instructions, as text for the assembler: each form that the decoders distinguish, with and
 * without the pc, in A32 and in Thumb. Written from the ARMv7-A and ARMv8-A architecture reference manuals. */
#ifndef FT_TESTS_UNIT_ARCH_ARM_FORMS_H
#define FT_TESTS_UNIT_ARCH_ARM_FORMS_H

/* clang-format off */
static const char arm_forms[] =
	".syntax unified\n.text\n.macro both\n.irp op, and, eor, sub, rsb, add, adc, sbc, orr, bic\n"
	".irp s, , s\n\\op\\s r1, r2, #0xff00\n\\op\\s r1, r2, r3\n\\op\\s r8, r9, r10, lsl #3\n"
	"\\op\\s r0, r0, r7, asr #31\n\\op\\s lr, r12, r3, ror #1\n.endr\n.endr\n"
	".irp op, tst, teq, cmp, cmn, mov, mvn, movs, mvns\n\\op r1, #0xab\n\\op r1, r2\n\\op r9, r10\n"
	".endr\nmovw r1, #0x1234\nmovt r12, #0xffff\nmov r1, pc\nmov r9, pc\nmov pc, r1\nmov pc, lr\n"
	"add r1, pc\nadd r9, pc\n.irp r, r1, r9, lr\nbx \\r\nblx \\r\n.endr\n"
	".irp c, eq, ne, cs, cc, mi, pl, vs, vc, hi, ls, ge, lt, gt, le\nb\\c .+32\nb\\c .-64\n.endr\n"
	"b .+16\nb .-256\nb .+100000\nbl .+4096\nbl .-4096\n.balign 4\nblx .+4096\n"
	".irp op, ldr, ldrb, ldrh, ldrsb, ldrsh, str, strb, strh\n\\op r1, [r2]\n\\op r1, [sp, #8]\n"
	"\\op r9, [r10, #200]\n\\op r1, [r2, #-4]\n\\op r1, [r2, #4]!\n\\op r1, [r2], #-4\n"
	"\\op r1, [r2, r3]\n\\op r8, [r9, r10]\n.endr\n.irp op, ldr, ldrb, ldrh, ldrsb, ldrsh\n.balign 4\n"
	"\\op r1, [pc, #16]\n\\op r9, [pc, #-16]\n.balign 4\n.endr\nldr pc, [r1]\nldr pc, [sp], #4\n"
	"ldr pc, [r1, #8]\nldr pc, [r1, #-8]!\nldr pc, [r1, r2, lsl #2]\n.balign 4\nldr pc, [pc, #8]\n"
	".irp op, ldrd, strd\n\\op r2, r3, [r4]\n\\op r2, r3, [r4, #-8]\n\\op r2, r3, [sp, #8]!\n.endr\n"
	".balign 4\nldrd r2, r3, [pc, #8]\npush {r4}\npush {r4, lr}\npush {r4-r11, lr}\npop {r4, pc}\n"
	"pop {r4-r7}\npop {pc}\npop {r4-r11, pc}\nstr r4, [sp, #-4]!\nstr lr, [sp, #-4]!\nldr r4, [sp], #4\n"
	".irp m, ia, db\nldm\\m r0, {r1, r2}\nldm\\m r0!, {r1, r2}\nstm\\m r0, {r1, r2}\n"
	"stm\\m r9!, {r1, r10}\nldm\\m r0!, {r1, pc}\n.endr\n.irp w, , b, h\nldrex\\w r1, [r2]\n"
	"strex\\w r1, r3, [r2]\nldaex\\w r1, [r2]\nstlex\\w r1, r3, [r2]\nlda\\w r1, [r2]\nstl\\w r1, [r2]\n"
	".endr\nldrexd r2, r3, [r4]\nstrexd r1, r2, r3, [r4]\nmul r1, r2, r3\nmla r1, r2, r3, r4\n"
	"umull r1, r2, r3, r4\nsmull r1, r2, r3, r4\nsdiv r1, r2, r3\nudiv r1, r2, r3\nclz r1, r2\n"
	"rev r1, r2\nrbit r1, r2\nuxtb r1, r2\nsxth r9, r10\nubfx r1, r2, #3, #5\nbfi r1, r2, #3, #5\n"
	"ssat r1, #8, r2\nlsl r1, r2, #3\nlsr r1, r2, r3\nasrs r1, r2, #7\nror r9, r9, r10\nnop\nyield\nwfe\n"
	"sev\ndmb ish\ndsb sy\nisb\nclrex\nsvc #0\nsetend be\nsetend le\npld [r1]\npld [pc, #8]\n"
	"mrc p15, 0, r1, c13, c0, 3\nmcr p15, 0, r1, c7, c5, 4\nmrs r1, cpsr\nmsr cpsr_f, r1\n"
	".irp op, vldr, vstr\n\\op d7, [r1, #8]\n\\op s7, [r1, #-8]\n.endr\n.balign 4\nvldr d7, [pc, #8]\n"
	"vldr s7, [pc, #-8]\nvpush {d8-d15}\nvpop {d8-d15}\nvldmia r0!, {d0-d3}\nvstmia r0, {s0-s3}\n"
	"vmov r1, r2, d3\nvmov s1, r2\nvadd.f64 d0, d1, d2\nvmrs apsr_nzcv, fpscr\nvmov.i32 q0, #0\n"
	"vld1.32 {d0, d1}, [r1]!\nvst1.64 {d0}, [r1], r2\nveor q0, q1, q2\n.endm\n.arm\nf:\nboth\n"
	".irp c, eq, ne, cs, cc, mi, pl, vs, vc, hi, ls, ge, lt, gt, le\nadd\\c r1, r2, r3\nldr\\c pc, [r1]\n"
	"ldr\\c r1, [pc, #16]\nbl\\c .+256\nbx\\c lr\nblx\\c r3\nmov\\c pc, r1\npush\\c {r4, lr}\n"
	"pop\\c {r4, pc}\nsvc\\c #0\nstr\\c r1, [r2]\nadd\\c r1, pc, #8\n.endr\n"
	".irp op, and, eor, sub, rsb, add, adc, sbc, orr, bic, rsc\n\\op r1, pc, #8\n\\op r1, pc, r2\n"
	"\\op r1, r2, pc\n\\op pc, r1, r2\n\\op pc, r1, #4\n\\op r1, pc, r2, lsl #2\n"
	"\\op r1, r2, pc, ror #3\n\\op r1, r2, r3, lsl r4\n.endr\nadd pc, pc, r1, lsl #2\ncmp pc, #8\n"
	"cmp r1, pc\ntst pc, r1\nmvn r1, pc\nmov r0, r0\nldr r1, [pc, r2]\nldr pc, [pc, r2, lsl #2]\n"
	"ldr pc, [pc, -r2]\nldrh r1, [pc, r2]\nldrd r2, r3, [pc, r4]\nstr r1, [pc, #8]\nstrh r1, [pc, #8]\n"
	"str pc, [r1]\n.irp m, da, ib\nldm\\m r0!, {r1, r2}\nstm\\m r0, {r1, r2}\nldm\\m sp!, {r4, pc}\n"
	".endr\nstmdb sp!, {r4, lr, pc}\nstm r0, {r1, r2}^\nrfeia sp!\nsrsdb sp!, #19\nldc p7, c1, [pc, #8]\n"
	"ldrt r1, [r2]\nstrbt r1, [r2], #4\n.thumb\n.thumb_func\ng:\nboth\n"
	".irp c, eq, ne, cs, cc, mi, pl, vs, vc, hi, ls, ge, lt, gt, le\nit \\c\nmov\\c r1, #1\n.endr\n"
	"itte ne\nmovne r1, #1\nmovne r2, #1\nmoveq r3, #1\nb.w .+32\nbeq.w .+32\nbeq.w .-2048\n"
	".irp r, r0, r3, r7\ncbz \\r, .+16\ncbnz \\r, .+64\n.endr\ntbb [r1, r2]\ntbh [r1, r2, lsl #1]\n"
	"tbb [pc, r2]\ntbh [pc, r2, lsl #1]\n.balign 4\nadr r1, .+32\nadr.w r9, .+32\n.balign 4\n"
	"adr.w r1, .-32\nldr.w pc, [r1, #200]\nldr.w r1, [r2, #8]\nadd.w r1, r2, #0xff\naddw r1, r2, #0xfff\n"
	"subw r1, r2, #0xfff\nnop.w\npush.w {r4, r5}\npop.w {r4, pc}\nrfeia sp!\nsrsdb sp!, #19\n"
	"subs pc, lr, #4\n";
/* clang-format on */

#endif
