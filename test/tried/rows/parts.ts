/** What rows have in common: programs, the server that says goodbye, and a piece of work that notices no signal. */
import type { Program, Row, Work } from '../row.ts';
import { PORT, type Site } from '../site.ts';

export const SH = '/bin/sh';
export const BASH = '/bin/bash';
export const PYTHON: Program = { program: '/usr/bin/python3', package: 'python3' };

/** The command line of a server that takes 2.4 s to stop; see programs/server.py. */
export function server(site: Site, name = 'app'): string {
  return `${PYTHON.program} ${site.program('server.py')} ${site.dir} ${name}`;
}

/** The rest of a row about such servers. */
export function aboutServers(...names: readonly string[]): Pick<Row, 'isReady' | 'judge' | 'workMs'> {
  return {
    isReady: (site) => names.every((name) => site.has(`ready-${name}`)),
    judge: (site) => judgeServers(site, names),
    workMs: 2_400,
  };
}

function judgeServers(site: Site, names: readonly string[]): Work {
  const ends = names.map((name) => endOf(site, name));
  const whole = ends.filter((it) => it.startsWith('clean')).length;
  const [first = ''] = ends;
  const different = [...new Set(ends)];
  if (different.length === 1) return { whole, of: names.length, text: names.length === 1 ? first : `all ${first}` };
  return { whole, of: names.length, text: `${whole} of ${names.length} clean` };
}

function endOf(site: Site, name: string): string {
  const times = linesOf(site.read(`heard-${name}`));
  const end = site.read(`end-${name}`).trim();
  if (times === 0) return 'never told';
  if (end === 'forced') return 'told twice, cut';
  if (end === '') return 'cut';
  return times > 1 ? `${end}, told ${times} times` : end;
}

/** The rest of a row about the lines that such a server writes last. `where`: what they should have come to. */
export function aboutLines(where: (site: Site) => string = (site) => site.output()): ReturnType<typeof aboutServers> {
  return {
    ...aboutServers('app'),
    judge: (site) => {
      const whole = where(site).match(/goodbye app \d/g)?.length ?? 0;
      const told = site.has('heard-app') ? '' : ', never told';
      return { whole, of: 4, text: `${whole} of 4 lines${told}` };
    },
  };
}

/** The command line of work that lasts 2.5 s and dies of a signal; see programs/job.py. */
export function job(site: Site, name = 'job'): string {
  return `${PYTHON.program} ${site.program('job.py')} ${site.dir} ${name} 2.5`;
}

/** The rest of a row about pieces of work. */
export function aboutJobs(names: readonly string[], what = 'jobs'): Pick<Row, 'isReady' | 'judge' | 'workMs'> {
  return {
    isReady: (site) => names.every((name) => site.has(`begun-${name}`)),
    judge: (site) => countOf(names.filter((name) => site.has(`done-${name}`)).length, names.length, what),
    workMs: 3_000,
  };
}

export function countOf(whole: number, of: number, what: string): Work {
  return { whole, of, text: `${whole} of ${of} ${what}` };
}

/** The rest of a row whose server gives an answer of two halves, with 2 s between them. */
export function aboutAnswer(port?: (site: Site) => number): Pick<Row, 'isReady' | 'begin' | 'judge' | 'workMs'> {
  const portOf = port ?? (() => PORT);
  return {
    isReady: (site) => site.isListening(portOf(site)),
    begin: (site) => site.request(portOf(site)),
    judge: async (site) => {
      const isWhole = await site.answer();
      return { whole: isWhole ? 1 : 0, of: 1, text: isWhole ? 'answer whole' : 'answer cut' };
    },
    workMs: 3_000,
  };
}

/** The rest of a row in which nothing is lost but a sign of a clean end. */
export function aboutSign(
  isClean: (site: Site) => boolean,
  words: readonly [clean: string, unclean: string] = ['clean', 'unclean'],
): Pick<Row, 'judge'> {
  return {
    judge: (site) => {
      const clean = isClean(site);
      return { whole: clean ? 1 : 0, of: 1, text: clean ? words[0] : words[1] };
    },
  };
}

export function linesOf(text: string): number {
  return text.split('\n').filter((line) => line !== '').length;
}
