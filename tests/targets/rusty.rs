// A Rust program with the system allocator: its allocations are the C library's, or posix_memalign's
// where an alignment asks for it. It prints what its trace must hold, as targets/target.h describes.
use std::alloc::{alloc, alloc_zeroed, dealloc, realloc, Layout};
use std::hint::black_box;
use std::thread;

fn pairs(rounds: usize) {
    for _ in 0..rounds {
        let v: Vec<u8> = Vec::with_capacity(38701);
        drop(black_box(v));
    }
}

fn main() {
    let rounds = 20;

    pairs(rounds);
    let handles: Vec<_> = (0..3).map(|_| thread::spawn(move || pairs(20))).collect();
    for h in handles {
        h.join().unwrap();
    }
    for _ in 0..rounds {
        unsafe {
            let small = Layout::from_size_align(38702, 8).unwrap();
            let p = black_box(alloc_zeroed(small));
            let p = black_box(realloc(p, small, 38703));
            dealloc(p, Layout::from_size_align(38703, 8).unwrap());
            let aligned = Layout::from_size_align(38784, 64).unwrap();
            let p = black_box(alloc(aligned));
            dealloc(p, aligned);
        }
    }
    // a panic that passes through a frame that owns a block
    let result = std::panic::catch_unwind(|| {
        let v: Vec<u8> = Vec::with_capacity(38704);
        black_box(&v);
        std::panic::resume_unwind(Box::new(1u32));
    });
    assert!(result.is_err());
    std::mem::forget(black_box(Vec::<u8>::with_capacity(38705)));
    println!("expect + 80 38701 malloc");
    println!("expect - 80 38701 free");
    println!("expect + 20 38702 calloc");
    println!("expect - 20 38702 realloc");
    println!("expect + 20 38703 realloc");
    println!("expect - 20 38703 free");
    println!("expect + 20 38784 posix_memalign|aligned_alloc|memalign");
    println!("expect - 20 38784 free");
    println!("expect + 1 38704 malloc");
    println!("expect - 1 38704 free");
    println!("expect + 1 38705 malloc");
    println!("expect = 1 38705");
}
