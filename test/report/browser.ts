/** Debian's Chromium for the tests of pages and pictures, driven over a pipe by the Chrome DevTools Protocol. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

const CHROMIUM = '/usr/bin/chromium';

/** Says why no page can be rendered here; false where one can. */
export const withoutBrowser: string | false = existsSync(CHROMIUM) ? false : `${CHROMIUM} is not installed`;

export interface View {
  /** CSS pixels. */
  readonly width: number;
  readonly scheme: 'light' | 'dark';
  readonly media: 'screen' | 'print';
}

/** How a report is looked at: in narrow and wide windows, light and dark, and on paper. */
export function viewsOf(name: string): readonly View[] {
  return name.endsWith('.svg') ? PICTURES : [...SCREENS, PAPER];
}

export function nameOf({ width, scheme, media }: View): string {
  return media === 'print' ? 'print' : `${width}-${scheme}`;
}

/** A4 upright at 96 dpi without the margins of 1 cm that browsers print with. */
const PAPER_WIDTH = 718;

const SCREENS: readonly View[] = ([360, 960, 1_280] as const).flatMap((width) =>
  (['light', 'dark'] as const).map((scheme) => ({ width, scheme, media: 'screen' as const })),
);
const PAPER: View = { width: PAPER_WIDTH, scheme: 'light', media: 'print' };

/** A picture alone has its own size. */
const PICTURES: readonly View[] = (['light', 'dark'] as const).map((scheme) => ({
  width: 960,
  scheme,
  media: 'screen',
}));

export interface Browser {
  /** Renders a document, HTML or SVG, and returns what `expression` is worth in it. */
  measure(file: string, view: View, expression: string): Promise<unknown>;
  screenshot(file: string, view: View): Promise<Buffer>;
  close(): Promise<void>;
}

/** A document takes far less, also on a machine with little CPU. */
const PATIENCE_MS = 60_000;

export async function openBrowser(): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'sexton-browser-'));
  const child = spawn(
    CHROMIUM,
    [...FLAGS.split(/\s+/), `--user-data-dir=${profile}`, '--remote-debugging-pipe', 'about:blank'],
    {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      detached: true,
    },
  );
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const protocol = new Protocol(child.stdio[3] as Writable, child.stdio[4] as Readable);
  void ended.then(() => protocol.fail('the browser has ended'));
  const { targetId } = await protocol.call('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await protocol.call('Target.attachToTarget', { targetId, flatten: true });
  const call = (method: string, params: object = {}) => protocol.call(method, params, String(sessionId));
  await call('Page.enable');

  async function open(file: string, { width, scheme, media }: View): Promise<void> {
    const size = { width, height: 800, deviceScaleFactor: 1, mobile: false };
    await call('Emulation.setDeviceMetricsOverride', size);
    await call('Emulation.setEmulatedMedia', { media, features: [{ name: 'prefers-color-scheme', value: scheme }] });
    const loaded = protocol.next('Page.loadEventFired');
    const { errorText } = await call('Page.navigate', { url: `file://${file}` });
    if (errorText !== undefined) throw new Error(`${file}: ${errorText}`);
    await loaded;
  }

  return {
    async measure(file, view, expression) {
      await open(file, view);
      const { result, exceptionDetails } = await call('Runtime.evaluate', { expression, returnByValue: true });
      if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
      return (result as { value: unknown }).value;
    },
    async screenshot(file, view) {
      await open(file, view);
      const { cssContentSize } = await call('Page.getLayoutMetrics');
      const { height } = cssContentSize as { height: number };
      const clip = { x: 0, y: 0, width: view.width, height: Math.ceil(height), scale: 1 };
      const { data } = await call('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true, clip });
      return Buffer.from(String(data), 'base64');
    },
    async close() {
      await protocol.call('Browser.close').catch(() => {});
      await ended;
      rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

const FLAGS = `--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
  --disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars --font-render-hinting=none`;

type Result = Readonly<Record<string, unknown>>;

interface Waiting {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
}

/** Messages in JSON, each followed by a zero byte. */
class Protocol {
  readonly #to: Writable;
  readonly #answers = new Map<number, Waiting>();
  readonly #events = new Map<string, Waiting[]>();
  #id = 0;
  #rest = '';
  #failure: Error | undefined;

  constructor(to: Writable, from: Readable) {
    this.#to = to;
    to.on('error', () => this.fail('the browser does not listen'));
    from.setEncoding('utf8').on('data', (text: string) => {
      const messages = `${this.#rest}${text}`.split('\0');
      this.#rest = messages.pop() ?? '';
      for (const message of messages) this.#take(JSON.parse(message));
    });
  }

  call(method: string, params: object = {}, sessionId?: string): Promise<Result> {
    this.#id += 1;
    const id = this.#id;
    const answer = this.#wait(method, (waiting) => this.#answers.set(id, waiting));
    this.#to.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return answer;
  }

  next(event: string): Promise<Result> {
    return this.#wait(event, (waiting) => this.#events.set(event, [...(this.#events.get(event) ?? []), waiting]));
  }

  fail(why: string): void {
    this.#failure = new Error(why);
    const all = [...this.#answers.values(), ...[...this.#events.values()].flat()];
    for (const { reject } of all) reject(this.#failure);
  }

  #wait(what: string, add: (waiting: Waiting) => void): Promise<Result> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer of the browser: ${what}`)), PATIENCE_MS);
      const settle =
        <Value>(end: (value: Value) => void) =>
        (value: Value) => {
          clearTimeout(timer);
          end(value);
        };
      add({ resolve: settle(resolve), reject: settle(reject) });
    });
  }

  #take({ id, method, params, result, error }: Message): void {
    if (id !== undefined) {
      const waiting = this.#answers.get(id);
      this.#answers.delete(id);
      if (error === undefined) waiting?.resolve(result ?? {});
      else waiting?.reject(new Error(error.message));
      return;
    }
    for (const { resolve } of this.#events.get(method ?? '') ?? []) resolve(params ?? {});
    this.#events.delete(method ?? '');
  }
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Result;
  readonly result?: Result;
  readonly error?: { readonly message: string };
}
