/**
 * A server whose answers take long, as those of an inference server do: a word every 100 ms, for 4 s or as many ms as
 * the query `?ms=` says. It counts what it is doing at /metrics. On TERM it ends at once, in the middle of its answers.
 */
import { createServer } from 'node:http';

const { PORT, NAME = 'server' } = process.env;
let running = 0;

createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://server');
  response.setHeader('Served-By', NAME);
  if (pathname === '/metrics') response.end(`# TYPE requests_running gauge\nrequests_running ${running}\n`);
  else if (pathname === '/readyz') response.end();
  else answer(response, Number(searchParams.get('ms') ?? 4_000));
}).listen(Number(PORT));
// As PID 1 it does not get the signal without a handler.
process.on('SIGTERM', () => process.exit(143));

function answer(response, ms) {
  running += 1;
  const words = setInterval(() => response.write('word '), 100);
  const end = setTimeout(() => response.end('done\n'), ms);
  response.once('close', () => {
    clearInterval(words);
    clearTimeout(end);
    running -= 1;
  });
}
