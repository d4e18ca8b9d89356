/**
 * The clients of the servers, each a process in the network namespace where it belongs:
 * `clients.ts load URL fresh|keep-alive`, `clients.ts probe URL ADDRESS`, `clients.ts scrape URL ADDRESS`,
 * `clients.ts neighbour URL`, `clients.ts streams URL MS`, `clients.ts once URL`.
 *
 * Load and streams report every request, one JSON object a line; the others only ask. All end by TERM.
 */
import { Agent, get } from 'node:http';

export interface Told {
  /** Since 1970, ms: when it was asked. */
  readonly at: number;
  readonly ok: boolean;
  /** Which server answered. */
  readonly by: string | undefined;
  /** Since 1970, ms: when the last of it came; undefined: it has just begun to answer. */
  readonly endedAt: number | undefined;
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
  case 'streams':
    streams(Number(detail));
    break;
  case 'once':
    ask(FRESH);
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

/** Twenty at once and then five a second, when both servers answer. They take from a third of `longestMs` to all of it. */
function streams(longestMs: number): void {
  const seen = new Set<string>();
  let asked = 0;
  const open = (): void => {
    const part = (((asked * 7) % FIRST) + 1) / FIRST;
    // The first ones have some of theirs behind them.
    const ms = asked < FIRST ? longestMs * part : longestMs * (1 / 3 + (part * 2) / 3);
    asked += 1;
    ask(FRESH, tell, `${url}?ms=${ms}`);
  };
  const look = (): void =>
    ask(
      FRESH,
      ({ by, endedAt }) => {
        if (endedAt === undefined) return;
        if (by !== undefined) seen.add(by);
        if (seen.size < 2) return void setTimeout(look, 50);
        for (let first = 0; first < FIRST; first += 1) open();
        setInterval(open, 200);
      },
      `${url}metrics`,
    );
  look();
}

const FIRST = 20;

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

/** `onTold` hears of a beginning only from streams. */
function ask(how: How, onTold: (told: Told) => void = () => {}, target = url): void {
  const at = Date.now();
  let begun = false;
  const outgoing = get(target, how, (response) => {
    const by = response.headers['served-by']?.toString();
    begun = true;
    if (kind === 'streams') onTold({ at, ok: true, by, endedAt: undefined });
    response.once('error', () => {});
    response.once('close', () =>
      onTold({ at, ok: response.complete && response.statusCode === 200, by, endedAt: Date.now() }),
    );
    response.resume();
  });
  outgoing.once('error', () => {
    // After the beginning `close` follows.
    if (!begun) onTold({ at, ok: false, by: undefined, endedAt: Date.now() });
  });
}

function tell(told: Told): void {
  process.stdout.write(`${JSON.stringify(told)}\n`);
}
