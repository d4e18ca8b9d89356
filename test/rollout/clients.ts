/**
 * The clients of the servers, each a process in the network namespace where it belongs:
 * `clients.ts load URL fresh|keep-alive`, `clients.ts probe URL ADDRESS`, `clients.ts scrape URL ADDRESS`, `clients.ts neighbour URL`.
 *
 * The load reports every request, one JSON object a line; the others only ask. All end by TERM.
 */
import { Agent, get } from 'node:http';

export interface Told {
  /** Since 1970, ms: when it was asked. */
  readonly at: number;
  readonly ok: boolean;
  /** Which server answered. */
  readonly by: string | undefined;
}

/** 200 requests a second, so 100 for each of two servers. */
const EVERY_MS = 5;
/** With so little CPU that more are under way the load is less: else they would heap up until all of them fail. */
const MAX_UNDER_WAY = 50;

const [, , kind = '', url = '', detail = ''] = process.argv;

const FRESH = { agent: false } as const;
const KEPT = { agent: new Agent({ keepAlive: true, maxSockets: 20 }) } as const;

switch (kind) {
  case 'load':
    load(detail === 'keep-alive' ? KEPT : FRESH);
    break;
  case 'probe':
    every(1_000, () => ask({ ...FRESH, localAddress: detail }));
    break;
  // Prometheus keeps the same connection, too.
  case 'scrape':
    every(5_000, () => ask({ ...KEPT, localAddress: detail }));
    break;
  case 'neighbour':
    every(50, () => ask(FRESH));
    break;
  default:
    throw new Error(`internal error: no such client as ${kind}`);
}

function load(how: How): void {
  let underWay = 0;
  every(EVERY_MS, () => {
    if (underWay >= MAX_UNDER_WAY) return;
    underWay += 1;
    ask(how, (told) => {
      underWay -= 1;
      tell(told);
    });
  });
}

/** A timer alone falls behind; what is missing is made up for. */
function every(ms: number, act: () => void): void {
  const since = performance.now();
  let done = 0;
  setInterval(() => {
    for (const due = (performance.now() - since) / ms; done < due; done += 1) act();
  }, ms);
  act();
}

type How = { readonly agent: false | Agent; readonly localAddress?: string };

function ask(how: How, onEnd: (told: Told) => void = () => {}): void {
  const at = Date.now();
  const outgoing = get(url, how, (response) => {
    const by = response.headers['served-by'];
    response.once('error', () => {});
    response.once('close', () =>
      onEnd({ at, ok: response.complete && response.statusCode === 200, by: by === undefined ? by : String(by) }),
    );
    response.resume();
  });
  outgoing.once('error', () => onEnd({ at, ok: false, by: undefined }));
}

function tell(told: Told): void {
  process.stdout.write(`${JSON.stringify(told)}\n`);
}
