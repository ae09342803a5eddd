# fuzzing
