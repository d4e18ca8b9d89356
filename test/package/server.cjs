/**
 * The application of the tests: `node server.cjs EVENTS`. A web server that leaves an orphan behind, and on a Ctrl-C closes and exits 7.
 * It writes down who its parent is, who the orphan is, and every signal that it got.
 */
const { spawn } = require('node:child_process');
const { appendFileSync } = require('node:fs');
const { createServer } = require('node:http');

const [events] = process.argv.slice(2);
const note = (...words) => appendFileSync(events, `${words.join(' ')}\n`);
const server = createServer((_, response) => response.end('ok'));

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    note(signal);
    server.close(() => process.exit(7));
  });
}
spawn('sh', ['-c', 'sh -c "read -r line" <&3 & echo orphan $! >> "$0"', events], {
  stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
}).on('exit', function () {
  // The orphan ends now, long after the process that started it.
  this.stdio[3].end();
  server.listen(0, '127.0.0.1', () => note('listening', process.ppid));
});
