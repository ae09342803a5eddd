/* A small shared object. bench.py copies the built file, to have many different objects. */
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
