/** A test run as one line per file, the failures in full, what was skipped and why, and totals. */
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

export interface Totals {
  passed: number;
  failed: number;
  skipped: number;
}

interface FileReport {
  readonly totals: Totals;
  readonly failures: string[];
  readonly skips: string[];
  output: string;
}

/** Only what is read here; the file's own outcome has neither nesting below 0 nor a position of its own. */
interface Outcome {
  readonly name: string;
  readonly file?: string | undefined;
  /** The file that was run; `file` is where the test is defined, which may be a helper. */
  readonly entryFile?: string | undefined;
  readonly skip?: string | boolean | undefined;
  readonly todo?: string | boolean | undefined;
  readonly details: {
    readonly duration_ms: number;
    readonly type?: string | undefined;
    readonly error?: Error & { readonly failureType?: string };
  };
}

export class FileReports {
  readonly totals: Totals = { passed: 0, failed: 0, skipped: 0 };
  readonly byFile = new Map<string, Totals>();
  readonly skips = new Map<string, number>();
  readonly #files = new Map<string, FileReport>();
  readonly #shorten: (file: string) => string;
  readonly #isPicked: boolean;

  /** `isPicked`: only tests of some titles run, so that a file may have none. */
  constructor(shorten: (file: string) => string, isPicked: boolean) {
    this.#shorten = shorten;
    this.#isPicked = isPicked;
  }

  take(event: TestEvent): void {
    switch (event.type) {
      case 'test:pass':
      case 'test:fail':
        return this.#takeOutcome(event.type === 'test:pass', event.data);
      case 'test:stdout':
      case 'test:stderr':
        this.#report(event.data.file).output += event.data.message;
        return;
      case 'test:summary':
        // One per file and one for all. A file that broke has none and is closed at the end.
        if (event.data.file !== undefined) this.#close(event.data.file, event.data.duration_ms);
        return;
      // Other events only report that tests are queued or begin.
      default:
    }
  }

  /** Ends the reports of the files that did not end by themselves. */
  end(): void {
    for (const file of this.#files.keys()) this.#close(file);
  }

  #takeOutcome(isPass: boolean, { name, file, entryFile, skip, todo, details }: Outcome): void {
    // A suite fails when a test in it does, and that is counted there. One that is skipped, or fails by itself,
    // reports none of its tests.
    const isByTests = isPass || details.error?.failureType === 'subtestsFailed';
    if (details.type === 'suite' && skip === undefined && isByTests) return;
    // A file without any test that was asked for passes as a whole; that is no test.
    if (isPass && name === (entryFile ?? file ?? name)) return;
    const { totals, failures, skips } = this.#report(entryFile ?? file ?? name);
    if (skip !== undefined || todo !== undefined) {
      totals.skipped += 1;
      const why = String(skip ?? todo);
      this.skips.set(why, (this.skips.get(why) ?? 0) + 1);
      skips.push(`skipped: ${name}: ${skip ?? todo}\n`);
    } else if (isPass) {
      totals.passed += 1;
    } else {
      totals.failed += 1;
      failures.push(`not ok: ${this.#title(name, file)}\n${indent(inspect(cause(details.error), { depth: 8 }))}\n`);
    }
  }

  #title(name: string, file: string | undefined): string {
    return name === file ? 'the file as a whole' : name;
  }

  #close(file: string, durationMs?: number): void {
    const { totals, failures, skips, output } = this.#report(file);
    if (!this.#isPicked && totals.passed + totals.failed + totals.skipped === 0) {
      totals.failed = 1;
      failures.push('not ok: the file has no test\n');
    }
    const { passed, failed, skipped } = totals;
    const counts = [`${passed} passed`, `${failed} failed`, ...(skipped > 0 ? [`${skipped} skipped`] : [])];
    const head = `${failed > 0 ? 'FAILED' : 'ok    '} ${this.#shorten(file)}: ${counts.join(', ')}`;
    const said = failed > 0 && output !== '' ? `it said:\n${indent(output)}\n` : '';
    const took = durationMs === undefined ? '' : ` (${(durationMs / 1000).toFixed(1)} s)`;
    process.stdout.write(`${head}${took}\n${skips.join('')}${failures.join('')}${said}`);
    this.totals.passed += passed;
    this.totals.failed += failed;
    this.totals.skipped += skipped;
    this.byFile.set(file, totals);
    this.#files.delete(file);
  }

  #report(file: string): FileReport {
    const known = this.#files.get(file);
    if (known) return known;
    const fresh: FileReport = { totals: { passed: 0, failed: 0, skipped: 0 }, failures: [], skips: [], output: '' };
    this.#files.set(file, fresh);
    return fresh;
  }
}

/** node:test wraps what was thrown. */
function cause(error: Error | undefined): unknown {
  return error?.cause instanceof Error ? error.cause : error;
}

function indent(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, '    ');
}
