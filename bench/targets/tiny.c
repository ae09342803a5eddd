/* One of many objects: bench.py makes as many copies of the built file as it wants. */
int tiny_add(int a, int b);
int tiny_sum(const int *items, int count);

int tiny_add(int a, int b)
{
	return a + b;
}

int tiny_sum(const int *items, int count)
{
	int sum = 0;

	while (count-- > 0)
		sum = tiny_add(sum, *items++);
	return sum;
}
