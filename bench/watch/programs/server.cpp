// A key-value server without clients: it makes its requests itself, RATE a second for SECONDS. server SECONDS RATE
//
// One request in a hundred forgets 136 bytes. Sound structures that look like leaks: a table that only replaces values,
// a queue of the last 5,000 log lines, a cache that is emptied when it is full, sessions with buffers that are grown by
// realloc, and a list that each second's tick fills and empties.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

using Clock = std::chrono::steady_clock;

struct Session {
	char *buffer = nullptr;
	size_t size = 0;
	~Session()
	{
		free(buffer);
	}
};

static std::unordered_map<unsigned, std::string> table;
static std::deque<std::string> log_lines;
static std::map<unsigned, std::vector<char>> cache;
static std::unordered_map<unsigned, std::unique_ptr<Session>> sessions;
static std::list<std::string> due;
static std::vector<std::string> history; // grows for ever, and is no lost block
static std::mt19937 random_numbers(7);

__attribute__((noinline)) static void forget()
{
	static void *volatile last;

	last = malloc(136);
	last = nullptr;
}

__attribute__((noinline)) static void set_value(unsigned key)
{
	table[key % 20000] = std::string(20 + key % 200, 'x');
}

__attribute__((noinline)) static void write_log(unsigned key)
{
	log_lines.push_back("request of key " + std::to_string(key) + " was answered in some time");
	if (log_lines.size() > 5000)
		log_lines.pop_front();
}

__attribute__((noinline)) static void keep_in_cache(unsigned key)
{
	cache[key] = std::vector<char>(100 + key % 1000);
	if (cache.size() > 4000)
		cache.clear();
}

__attribute__((noinline)) static void use_session(unsigned key)
{
	auto &session = sessions[key % 500];

	if (!session || key % 37 == 0)
		session = std::make_unique<Session>();
	session->size += 100 + key % 50;
	if (session->size > 20000)
		session->size = 100;
	session->buffer = static_cast<char *>(realloc(session->buffer, session->size));
}

__attribute__((noinline)) static size_t answer(unsigned key)
{
	std::vector<std::string> words;

	for (unsigned i = 0; i < 4; i++)
		words.push_back("word " + std::to_string(key + i) + " of the answer");
	return words.size();
}

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? atof(argv[1]) : 10, rate = argc > 2 ? atof(argv[2]) : 5000;
	const auto begin = Clock::now();
	auto tick = begin;
	size_t answered = 0;

	for (unsigned long done = 0;; done++) {
		const double now = std::chrono::duration<double>(Clock::now() - begin).count();

		if (now > seconds)
			break;
		if (static_cast<double>(done) > now * rate)
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
		const unsigned key = random_numbers();

		answered += answer(key);
		set_value(key);
		write_log(key);
		if (key % 3 == 0)
			keep_in_cache(key);
		if (key % 5 == 0)
			use_session(key);
		if (done % 100 == 0)
			forget();
		if (done % 50 == 0)
			history.push_back("a line of history that is kept for ever, number " + std::to_string(done));
		if (Clock::now() - tick > std::chrono::seconds(1)) {
			tick = Clock::now();
			for (unsigned i = 0; i < 200; i++)
				due.push_back("something that is due in this second, or in the next one");
			while (due.size() > 300)
				due.pop_front();
		}
	}
	printf("%zu words\n", answered);
}
