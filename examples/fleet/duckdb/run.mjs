// Runs the queries of this folder: node run.mjs DATABASE QUERY.sql [NAME=VALUE]...
// DATABASE is a file, which is made if it does not exist. QUERY.sql has $NAME where VALUE goes. Prints a line of JSON
// for each row of the result. Needs the package @duckdb/node-api: npm install @duckdb/node-api
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';

const {DuckDBInstance} = createRequire(process.cwd() + '/')('@duckdb/node-api');
const [path, query, ...assignments] = process.argv.slice(2);
const values = Object.fromEntries(assignments.map((text) => text.split(/=(.*)/s).slice(0, 2)));
const quoted = (text) => "'" + text.replaceAll("'", "''") + "'";
const sql = readFileSync(query, 'utf8').replace(/^--.*$/gm, '').replace(/\$(\w+)/g, (whole, name) => {
	if (!(name in values))
		throw new Error(`${query} needs ${name}=VALUE`);
	return quoted(values[name]);
});
const instance = await DuckDBInstance.create(path);
const connection = await instance.connect();
const reader = await connection.runAndReadAll(sql);

for (const row of reader.getRowObjectsJson())
	console.log(JSON.stringify(row));
