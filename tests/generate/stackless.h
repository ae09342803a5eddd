/* C++20's coroutines. Generated programs resume them a few times, then destroy them at any suspension point. */
#ifndef STACKLESS_H
#define STACKLESS_H

#include <coroutine>

struct stackless {
	struct promise_type {
		stackless get_return_object()
		{
			return {std::coroutine_handle<promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend() noexcept
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
			throw;
		}
	};
	std::coroutine_handle<promise_type> handle;

	void resume()
	{
		if (!handle.done())
			handle.resume();
	}
	~stackless()
	{
		handle.destroy();
	}
};

#endif
