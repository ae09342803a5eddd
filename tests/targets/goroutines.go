// A Go program without C: its memory is Go's own, which is no function that can be watched.
package main

import (
	"fmt"
	"sync"
)

func main() {
	var wait sync.WaitGroup
	var lock sync.Mutex
	m := map[int]string{}
	for i := 0; i < 50; i++ {
		wait.Add(1)
		go func(i int) {
			defer wait.Done()
			s := fmt.Sprint(i * i)
			lock.Lock()
			m[i] = s
			lock.Unlock()
		}(i)
	}
	wait.Wait()
	fmt.Println(len(m), m[49])
}
