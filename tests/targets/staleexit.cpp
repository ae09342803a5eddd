/* Blocks that main() has lost, of which exit(3)'s own frames have old words; and blocks that it keeps while it calls
 * exit() itself: staleexit lost|kept. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace
{
struct item {
	item *next;
	char *text;
};

__attribute__((noinline)) void leave(const item *first)
{
	std::printf("%s %s\n", first->text, first->next->text);
	std::exit(0);
}

__attribute__((noinline)) char *copy(const char *text)
{
	char *to = static_cast<char *>(std::malloc(200));

	return std::strcpy(to, text);
}
} // namespace

int main(int argc, char **argv)
{
	if (argc > 1 && !std::strcmp(argv[1], "kept")) {
		item second = {nullptr, copy("second")}, first = {&second, copy("first")};

		__asm__ volatile("" : : "r"(&first) : "memory");
		leave(&first);
	}
	auto *all = new std::vector<std::string>;

	for (int i = 0; i < 20; i++)
		all->push_back(std::string(60, 'v'));
	all->clear();
	/* The stack memory that the frames of exit() will use. */
	void *volatile words[64];

	for (auto &word : words)
		word = all;
	all = nullptr;
	delete[] new int[100];
	return 0;
}
