/**
 * Signal names and numbers, by Linux's numbering on x64 and arm64 (signal(7)), also where sexton runs on another
 * system. Real-time signals are 32..64. The C libraries take 32 and 33, so RTMIN is 34, as for container runtimes and
 * shells: `STOPSIGNAL SIGRTMIN+3` is 37.
 */

/** The number of `TERM`, `SIGTERM`, `sigterm`, `15`, `RTMIN+3` or `RTMAX-1`; undefined for other texts. */
export function signalNumber(text: string): number | undefined {
  if (/^[0-9]{1,2}$/.test(text)) {
    const number = Number(text);
    return number >= 1 && number <= MAX ? number : undefined;
  }
  const name = text.toUpperCase().replace(/^SIG/, '');
  const realTime = /^RT(MIN|MAX)(?:([+-])([0-9]{1,2}))?$/.exec(name);
  if (realTime === null) return NUMBERS.get(ALIASES[name] ?? name);
  const offset = Number(realTime[3] ?? 0);
  if (realTime[2] !== undefined && realTime[2] !== (realTime[1] === 'MIN' ? '+' : '-')) return undefined;
  const number = realTime[1] === 'MIN' ? RTMIN + offset : MAX - offset;
  return number >= RTMIN && number <= MAX ? number : undefined;
}

/** `SIGTERM`, `SIGRTMIN+3`; `SIG` and the number where there is no name. */
export function signalName(number: number): string {
  const name = NAMES[number];
  if (name !== undefined) return `SIG${name}`;
  if (number === RTMIN) return 'SIGRTMIN';
  if (number === MAX) return 'SIGRTMAX';
  return number > RTMIN && number < MAX ? `SIGRTMIN+${number - RTMIN}` : `SIG${number}`;
}

export const MAX = 64;
export const RTMIN = 34;

const NAMES: readonly (string | undefined)[] = [
  undefined,
  ...'HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP'.split(' '),
  ...'TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS'.split(' '),
];
const ALIASES: Readonly<Record<string, string>> = { CLD: 'CHLD', IOT: 'ABRT', POLL: 'IO', UNUSED: 'SYS' };
const NUMBERS: ReadonlyMap<string, number> = new Map(
  NAMES.flatMap((name, number) => (name === undefined ? [] : [[name, number] as const])),
);

export const SIGHUP = 1;
export const SIGINT = 2;
export const SIGQUIT = 3;
export const SIGKILL = 9;
export const SIGTERM = 15;
export const SIGCHLD = 17;
export const SIGCONT = 18;
export const SIGSTOP = 19;
export const SIGTSTP = 20;
export const SIGTTIN = 21;
export const SIGTTOU = 22;
export const SIGWINCH = 28;
