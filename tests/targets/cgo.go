// A Go program that allocates by the C library from many goroutines. It prints what its trace must
// hold, as targets/target.h describes. Go's own memory is not the C library's, and not traced.
package main

// #include <stdlib.h>
import "C"

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"
)

const (
	goroutines = 32
	rounds     = 25
)

// Grows the goroutine's stack, so that it is moved, and releases at every depth.
func deep(level int, p unsafe.Pointer) int {
	var room [512]byte
	room[level%512] = byte(level)
	if level == 0 {
		C.free(p)
		return int(room[0])
	}
	return deep(level-1, p) + int(room[level%512])*0
}

func work(id int, text string) int {
	sum := 0
	for i := 0; i < rounds; i++ {
		p := C.malloc(38801)
		q := C.calloc(2, 19401)
		*(*byte)(p) = byte(id)
		garbage := make([]byte, 1000+i)
		garbage[i] = 1
		runtime.Gosched() // maybe another thread goes on with it
		q = C.realloc(q, 38803)
		sum += int(*(*byte)(p)) + int(garbage[i])
		deep(40, p)
		C.free(q)
		s := C.CString(text) // malloc(len + 1)
		C.free(unsafe.Pointer(s))
	}
	return sum
}

func main() {
	var wait sync.WaitGroup
	sums := make([]int, goroutines)
	text := strings.Repeat("x", 38803)

	for id := range sums {
		wait.Add(1)
		go func(id int) {
			defer wait.Done()
			sums[id] = work(id, text)
		}(id)
	}
	wait.Wait()
	runtime.GC()
	total := 0
	for _, sum := range sums {
		total += sum
	}
	n := goroutines * rounds
	fmt.Printf("sum %d\n", total)
	fmt.Printf("expect + %d 38801 malloc\nexpect - %d 38801 free\n", n, n)
	fmt.Printf("expect + %d 38802 calloc\nexpect - %d 38802 realloc\n", n, n)
	fmt.Printf("expect + %d 38803 realloc\nexpect - %d 38803 free\n", n, n)
	fmt.Printf("expect + %d 38804 malloc\nexpect - %d 38804 free\n", n, n)
}
