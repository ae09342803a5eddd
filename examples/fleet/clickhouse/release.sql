-- A release of a service against the one before: what each stack keeps and allocates in a process, as the mean over the
-- intervals. Stacks are compared by the names of their functions, because build-ids and offsets differ.
-- Replace $service, such as 'shop', and $old and $new, which are build-ids of the program.
WITH
	(SELECT count() FROM functrace_rows
	 WHERE service = $service AND scope = 'interval' AND kind = 'memory' AND build_id = $old) AS old_intervals,
	(SELECT count() FROM functrace_rows
	 WHERE service = $service AND scope = 'interval' AND kind = 'memory' AND build_id = $new) AS new_intervals
SELECT
	any(function) AS name,
	sumIf(live, build_id = $old) / old_intervals AS old_live,
	sumIf(live, build_id = $new) / new_intervals AS new_live,
	sumIf(growth, build_id = $old) / old_intervals AS old_growth,
	sumIf(growth, build_id = $new) / new_intervals AS new_growth,
	sumIf(allocated_rate, build_id = $old) / old_intervals AS old_rate,
	sumIf(allocated_rate, build_id = $new) / new_intervals AS new_rate
FROM functrace_rows
WHERE service = $service AND scope = 'stack' AND kind = 'memory' AND build_id IN ($old, $new)
GROUP BY names
ORDER BY ifNull(new_live, 0) - ifNull(old_live, 0) DESC
LIMIT 20
