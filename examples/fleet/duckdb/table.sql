-- A table for rows of functrace, for DuckDB 1.0 and later. Replace $files, such as '/srv/rows/*/rows*.jsonl'.
CREATE TABLE functrace_rows AS
SELECT *, hash(list_transform(list_zip(functions, objects), lambda frame: coalesce(frame[1], frame[2]))) AS names
FROM read_json($files, format = 'newline_delimited', columns = {
	scope: 'VARCHAR', host: 'VARCHAR', service: 'VARCHAR', program: 'VARCHAR', build_id: 'VARCHAR', pid: 'UINTEGER',
	process_start: 'TIMESTAMP', watch_begin: 'TIMESTAMP', interval_begin: 'TIMESTAMP', interval_end: 'TIMESTAMP',
	kind: 'VARCHAR', way: 'VARCHAR', function: 'VARCHAR', id: 'VARCHAR',
	functions: 'VARCHAR[]', files: 'VARCHAR[]', lines: 'UINTEGER[]', objects: 'VARCHAR[]', build_ids: 'VARCHAR[]',
	offsets: 'UBIGINT[]',
	allocated_rate: 'DOUBLE', call_rate: 'DOUBLE', live: 'DOUBLE', live_low: 'DOUBLE', live_high: 'DOUBLE',
	blocks: 'DOUBLE', growth: 'DOUBLE', growth_low: 'DOUBLE', growth_high: 'DOUBLE', lost: 'DOUBLE',
	verdict: 'VARCHAR', samples: 'UBIGINT', windows: 'UBIGINT', looks: 'UBIGINT', share: 'DOUBLE',
	heap_bytes: 'DOUBLE', heap_blocks: 'DOUBLE', before: 'DOUBLE', unattributed: 'DOUBLE', stacks: 'UBIGINT',
	calls_seen: 'UBIGINT', calls_unseen: 'UBIGINT',
	cost_budget: 'DOUBLE', cost_target: 'DOUBLE', cost_own: 'DOUBLE', cost_pause: 'DOUBLE',
	looked: 'TIMESTAMP', scanned: 'TIMESTAMP'});
