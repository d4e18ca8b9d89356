/**
 * The main: needs its proxy ten times a second, and writes to WORK_LOG when each request was made and how it went. On
 * TERM it makes its last request, the one that matters (a commit, say), and ends with 0 when that went well, else with
 * 1.
 */
import { appendFileSync } from 'node:fs';
import { get } from 'node:http';

const EVERY_MS = 100;
const { PROXY_PORT, WORK_LOG } = process.env;

const timer = setInterval(() => request('request'), EVERY_MS);
process.on('SIGTERM', async () => {
  clearInterval(timer);
  process.exit((await request('last request')) ? 0 : 1);
});

async function request(what) {
  const at = Date.now();
  const ok = await new Promise((resolve) => {
    get({ host: '127.0.0.1', port: PROXY_PORT, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).once('error', () => resolve(false));
  });
  appendFileSync(WORK_LOG, `${JSON.stringify({ at, what, ok })}\n`);
  return ok;
}
