// Answers made-up requests for SECONDS: node worker.js SECONDS. Blocks of malloc are what node allocates outside of its
// own heap: buffers, and the memory of zlib and of hashes. One request in a hundred keeps 136 bytes for ever. The rest is
// sound: a cache of the last 2,000 compressed answers, a queue of the last 1,000 lines, and a batch that is written, and
// then emptied, each second.
'use strict';
const crypto = require('crypto');
const zlib = require('zlib');

const seconds = Number(process.argv[2]);
const cache = new Map();
const queue = [];
const kept = [];
let batch = [];
let requests = 0;

function textOf(number) {
	let text = `the answer to request ${number}:`;
	for (let i = 0; i < 10 + number % 30; i++)
		text += ` word ${number * i % 977}`;
	return text;
}

// A buffer with memory of its own.
function bufferOf(bytes) {
	const buffer = Buffer.allocUnsafeSlow(bytes.length);
	bytes.copy(buffer);
	return buffer;
}

function keep() {
	kept.push(bufferOf(Buffer.alloc(136, 'k')));
}

function remember(key, text) {
	cache.delete(key);
	cache.set(key, bufferOf(zlib.deflateSync(text)));
	if (cache.size > 2000)
		cache.delete(cache.keys().next().value);
}

function enqueue(text) {
	queue.push(bufferOf(Buffer.from(text.slice(0, 60 + text.length % 50))));
	if (queue.length > 1000)
		queue.shift();
}

function collect(text) {
	batch.push(bufferOf(crypto.createHash('sha256').update(text).digest()));
}

function answer(number) {
	const key = `key ${Math.floor(Math.random() * 6000)}`;
	const text = cache.has(key) ? zlib.inflateSync(cache.get(key)).toString() : textOf(number);
	remember(key, text);
	enqueue(text);
	collect(text);
	if (number % 100 === 0)
		keep();
}

const timer = setInterval(() => {
	for (let i = 0; i < 4; i++)
		answer(++requests);
}, 10);
setInterval(() => { batch = []; }, 1000).unref();
setTimeout(() => {
	clearInterval(timer);
	console.log(requests, kept.length);
}, seconds * 1000);
