-- Stacks that were first seen after $since, such as '2026-02-28 13:00:00' (UTC), by service. A stack is the same in
-- another release if its functions have the same names.
SELECT
	service, any(function) AS name, min(interval_end) AS first_seen, uniq(host) AS hosts,
	max(live) AS most_live, countIf(verdict = 'growing') AS growing_intervals
FROM functrace_rows
WHERE scope = 'stack' AND kind = 'memory'
GROUP BY service, names
HAVING first_seen > toDateTime($since, 'UTC')
ORDER BY hosts DESC, most_live DESC
LIMIT 20
