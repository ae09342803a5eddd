-- The stacks of a service that grow fastest, over all hosts: sums of the latest estimates of each process.
-- Replace $service, such as 'shop', and $begin and $end, such as '2026-02-28 13:00:00' (UTC).
SELECT
	id, any_value(name) AS function, sum(rate) AS growth, count(*) FILTER (says = 'growing') AS growing_processes,
	count(*) AS processes, sum(bytes) AS live, sum(lost_bytes) AS lost
FROM
(
	SELECT
		id, any_value(function) AS name, arg_max(growth, interval_end) AS rate,
		arg_max(verdict, interval_end) AS says, arg_max(live, interval_end) AS bytes,
		arg_max(lost, interval_end) AS lost_bytes
	FROM functrace_rows
	WHERE scope = 'stack' AND kind = 'memory' AND service = $service
		AND interval_end > $begin::TIMESTAMP AND interval_end <= $end::TIMESTAMP
	GROUP BY id, host, pid, process_start
)
GROUP BY id
HAVING growing_processes > 0
ORDER BY growth DESC
LIMIT 20
