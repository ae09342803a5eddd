-- Tables for rows of functrace, for ClickHouse 18.16 and later. Load rows with
--
--	clickhouse-client --input_format_skip_unknown_fields=1 --max_insert_block_size=65536 \
--		--query='INSERT INTO functrace_rows_in FORMAT JSONEachRow' <rows.jsonl
--
-- With the default size of blocks, a million rows, the view needs more than 8 GB of memory.
-- functrace_rows_in stores nothing. Its view changes what is unknown in all rows of a trace or of an interval (null) to
-- '' or 0, because the columns of a key cannot be null, and drops the fractions of seconds.
CREATE TABLE functrace_rows
(
	scope String, host String, service String, program String, build_id String, pid UInt32,
	process_start DateTime, watch_begin DateTime, interval_begin DateTime, interval_end DateTime,
	kind String, way String, function String, id String,
	functions Array(String), files Array(String), lines Array(UInt32), objects Array(String),
	build_ids Array(String), offsets Array(UInt64),
	-- The same in all releases of a program, because it has neither build-ids nor offsets of functions with names.
	names UInt64,
	allocated_rate Nullable(Float64), call_rate Nullable(Float64),
	live Nullable(Float64), live_low Nullable(Float64), live_high Nullable(Float64), blocks Nullable(Float64),
	growth Nullable(Float64), growth_low Nullable(Float64), growth_high Nullable(Float64), lost Nullable(Float64),
	verdict String, samples Nullable(UInt64), windows Nullable(UInt64), looks Nullable(UInt64), share Nullable(Float64),
	heap_bytes Nullable(Float64), heap_blocks Nullable(Float64), before Nullable(Float64),
	unattributed Nullable(Float64), stacks Nullable(UInt64), calls_seen Nullable(UInt64),
	calls_unseen Nullable(UInt64),
	cost_budget Nullable(Float64), cost_target Nullable(Float64), cost_own Nullable(Float64),
	cost_pause Nullable(Float64), looked DateTime, scanned DateTime
)
-- A day is dropped at once: ALTER TABLE functrace_rows DROP PARTITION '2026-02-28'. The rows of a stack are neighbours,
-- so that its frames, which are in each row, take little room.
ENGINE = MergeTree PARTITION BY toDate(interval_end) ORDER BY (service, scope, id, host, pid, interval_end);

CREATE TABLE functrace_rows_in
(
	scope String, host Nullable(String), service Nullable(String), program Nullable(String),
	build_id Nullable(String), pid Nullable(UInt32),
	process_start Nullable(String), watch_begin Nullable(String), interval_begin Nullable(String),
	interval_end Nullable(String),
	kind String, way Nullable(String), function Nullable(String), id Nullable(String),
	functions Array(Nullable(String)), files Array(Nullable(String)), lines Array(Nullable(UInt32)),
	objects Array(Nullable(String)), build_ids Array(Nullable(String)), offsets Array(UInt64),
	allocated_rate Nullable(Float64), call_rate Nullable(Float64),
	live Nullable(Float64), live_low Nullable(Float64), live_high Nullable(Float64), blocks Nullable(Float64),
	growth Nullable(Float64), growth_low Nullable(Float64), growth_high Nullable(Float64), lost Nullable(Float64),
	verdict Nullable(String), samples Nullable(UInt64), windows Nullable(UInt64), looks Nullable(UInt64),
	share Nullable(Float64),
	heap_bytes Nullable(Float64), heap_blocks Nullable(Float64), before Nullable(Float64),
	unattributed Nullable(Float64), stacks Nullable(UInt64), calls_seen Nullable(UInt64),
	calls_unseen Nullable(UInt64),
	cost_budget Nullable(Float64), cost_target Nullable(Float64), cost_own Nullable(Float64),
	cost_pause Nullable(Float64), looked Nullable(String), scanned Nullable(String)
)
ENGINE = Null;

CREATE MATERIALIZED VIEW functrace_rows_view TO functrace_rows AS
SELECT
	scope, ifNull(host, '') AS host, ifNull(service, '') AS service, ifNull(program, '') AS program,
	ifNull(build_id, '') AS build_id, ifNull(pid, 0) AS pid,
	parseDateTimeBestEffortOrZero(ifNull(process_start, '')) AS process_start,
	parseDateTimeBestEffortOrZero(ifNull(watch_begin, '')) AS watch_begin,
	parseDateTimeBestEffortOrZero(ifNull(interval_begin, '')) AS interval_begin,
	parseDateTimeBestEffortOrZero(ifNull(interval_end, '')) AS interval_end,
	kind, ifNull(way, '') AS way, ifNull(function, '') AS function, ifNull(id, '') AS id,
	arrayMap(f -> ifNull(f, ''), functions) AS functions, arrayMap(f -> ifNull(f, ''), files) AS files,
	arrayMap(f -> ifNull(f, 0), lines) AS lines, arrayMap(f -> ifNull(f, ''), objects) AS objects,
	arrayMap(f -> ifNull(f, ''), build_ids) AS build_ids, offsets,
	cityHash64(arrayStringConcat(arrayMap((f, o) -> f != '' ? f : o, functions, objects), '\n')) AS names,
	allocated_rate, call_rate, live, live_low, live_high, blocks, growth, growth_low, growth_high, lost,
	ifNull(verdict, '') AS verdict, samples, windows, looks, share, heap_bytes, heap_blocks, before, unattributed,
	stacks, calls_seen, calls_unseen, cost_budget, cost_target, cost_own, cost_pause,
	parseDateTimeBestEffortOrZero(ifNull(looked, '')) AS looked,
	parseDateTimeBestEffortOrZero(ifNull(scanned, '')) AS scanned
FROM functrace_rows_in;
