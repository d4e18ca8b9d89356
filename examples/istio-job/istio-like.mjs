/**
 * What a Job sees of Istio's proxy, which is injected and cannot be wrapped: the endpoints of pilot-agent, and traffic
 * that gets nowhere before it is ready. In a mesh that is when its configuration has come; here it is when it was asked
 * a few times. It has no end of its own. `AGENT_PORT`, `READY_PORT` and `PROXY_PORT` are 15020, 15021 and 15001 in a
 * mesh.
 */
import { createServer } from 'node:http';

const { AGENT_PORT, READY_PORT, PROXY_PORT } = process.env;
const TIMES_ASKED = 5;

// Only POST is an order to leave; whoever asks by GET gets 405 and the proxy stays.
listen(AGENT_PORT, (request, response) => {
  if (request.url !== '/quitquitquit') return answer(response, 404);
  if (request.method !== 'POST') return answer(response, 405);
  answer(response, 200, 'ok');
  response.once('finish', () => process.exit(0));
});
let asked = 0;
const proxy = createServer((_request, response) => answer(response, 200, 'passed on'));
listen(READY_PORT, (request, response) => {
  if (request.url !== '/healthz/ready') return answer(response, 404);
  asked += 1;
  if (asked === TIMES_ASKED) proxy.listen(Number(PROXY_PORT), '127.0.0.1');
  answer(response, proxy.listening ? 200 : 503);
});

function listen(port, onRequest) {
  createServer(onRequest).listen(Number(port), '127.0.0.1');
}

function answer(response, status, text = '') {
  response.writeHead(status, { connection: 'close' }).end(text);
}
