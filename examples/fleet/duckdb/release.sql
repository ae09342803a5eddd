-- A release of a service against the one before: what each stack keeps and allocates in a process, as the mean over the
-- intervals. Stacks are compared by the names of their functions, because build-ids and offsets differ.
-- Replace $service, such as 'shop', and $old and $new, which are build-ids of the program.
WITH intervals AS
(
	SELECT count(*) FILTER (build_id = $old) AS old_count, count(*) FILTER (build_id = $new) AS new_count
	FROM functrace_rows
	WHERE service = $service AND scope = 'interval' AND kind = 'memory'
)
SELECT
	any_value(function) AS name,
	coalesce(sum(live) FILTER (build_id = $old), 0) / any_value(old_count) AS old_live,
	coalesce(sum(live) FILTER (build_id = $new), 0) / any_value(new_count) AS new_live,
	sum(growth) FILTER (build_id = $old) / any_value(old_count) AS old_growth,
	sum(growth) FILTER (build_id = $new) / any_value(new_count) AS new_growth,
	sum(allocated_rate) FILTER (build_id = $old) / any_value(old_count) AS old_rate,
	sum(allocated_rate) FILTER (build_id = $new) / any_value(new_count) AS new_rate
FROM functrace_rows, intervals
WHERE service = $service AND scope = 'stack' AND kind = 'memory' AND build_id IN ($old, $new)
GROUP BY names
ORDER BY new_live - old_live DESC
LIMIT 20
