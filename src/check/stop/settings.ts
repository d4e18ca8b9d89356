/** How long programs work on after the stop signal, by their own settings on the command line or in variables. */
interface Setting {
  readonly programs: RegExp;
  readonly flags?: readonly string[];
  /** A variable with more flags, which those of the command line beat. */
  readonly words?: string;
  readonly variable?: string;
  readonly defaultSeconds?: number;
}

const SETTINGS: readonly Setting[] = [
  // docs.gunicorn.org/en/stable/settings.html: graceful-timeout, "Settings".
  { programs: /^gunicorn3?$/, flags: ['--graceful-timeout'], words: 'GUNICORN_CMD_ARGS', defaultSeconds: 30 },
  // www.uvicorn.org/settings: without it there is no bound.
  { programs: /^uvicorn$/, flags: ['--timeout-graceful-shutdown'] },
  // hypercorn.readthedocs.io: graceful_timeout.
  { programs: /^hypercorn$/, flags: ['--graceful-timeout'], defaultSeconds: 3 },
  // docs.spring.io: graceful shutdown.
  { programs: /^java$/, variable: 'SPRING_LIFECYCLE_TIMEOUT_PER_SHUTDOWN_PHASE' },
];

export function settingOf(
  program: string | undefined,
  args: readonly string[],
  env: ReadonlyMap<string, string | undefined>,
): { readonly ms: number; readonly by: string } | undefined {
  const setting = SETTINGS.find(({ programs }) => programs.test(program ?? ''));
  if (setting === undefined) return undefined;
  const words = setting.words && env.get(setting.words);
  const all = [...args, ...(words?.split(/\s+/) ?? [])];
  for (const flag of setting.flags ?? []) {
    const at = flagIndex(all, flag);
    const text = all[at]?.includes('=') ? all[at]?.slice(flag.length + 1) : all[at + 1];
    if (at >= 0 && text !== undefined && /^\d+$/.test(text)) return { ms: Number(text) * 1_000, by: `${flag} ${text}` };
  }
  const text = setting.variable && env.get(setting.variable);
  const [, count, unit] = /^(\d+)(ms|s|m)$/.exec(text ?? '') ?? [];
  const unitMs = unit === 'm' ? 60_000 : unit === 's' ? 1_000 : 1;
  if (count !== undefined) return { ms: Number(count) * unitMs, by: `${setting.variable}=${text}` };
  const { defaultSeconds } = setting;
  return defaultSeconds === undefined
    ? undefined
    : { ms: defaultSeconds * 1_000, by: `the graceful timeout of ${program}, ${defaultSeconds} s by default` };
}

/** Where a flag stands, alone or joined with its value; -1: nowhere. */
export function flagIndex(words: readonly string[], flag: string): number {
  return words.findIndex((word) => word === flag || word.startsWith(`${flag}=`));
}
