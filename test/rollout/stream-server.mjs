/**
 * A server of streams: `/?ms=N` sends a word every 100 ms for N ms, and `/metrics` says how many streams there are.
 * After `/outage?ms=N` the metrics get no answer for N ms. On TERM it ends at once, in the middle of its streams.
 */
import { createServer } from 'node:http';

const [, , port, name] = process.argv;
let running = 0;
let silentUntil = 0;

createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://server');
  const ms = Number(searchParams.get('ms'));
  response.setHeader('Served-By', name);
  if (pathname === '/') stream(response, ms);
  else if (pathname === '/outage') {
    silentUntil = performance.now() + ms;
    response.end();
  } else if (performance.now() >= silentUntil) response.end(`streams_running ${running}\n`);
}).listen(Number(port));
// Without a handler PID 1 does not get it (pid_namespaces(7)).
process.on('SIGTERM', () => process.exit(143));

function stream(response, ms) {
  running += 1;
  const words = setInterval(() => response.write('word '), 100);
  const end = setTimeout(() => response.end('done\n'), ms);
  response.flushHeaders();
  response.once('close', () => {
    clearInterval(words);
    clearTimeout(end);
    running -= 1;
  });
}
