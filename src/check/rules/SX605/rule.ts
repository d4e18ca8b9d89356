import { ofStage } from '../rule.ts';

export const rule = ofStage({
  severity: 'warning',
  title: 'The entrypoint script never execs',
  why: 'The script stays PID 1 and waits for the program. Without a trap it ignores TERM, and the program never hears of it.',
  remedy: 'End the script with exec "$@", or with exec and the program.',
  *find({ stage: { entrypoint, copied, readBeside } }) {
    const [path] = entrypoint?.argv ?? [];
    const file = path === undefined ? undefined : copied.get(path);
    const text = file === undefined ? undefined : readBeside(file);
    if (entrypoint === undefined || text === undefined || !/^#!.*\b(sh|bash|dash|ash)\b/.test(text)) return;
    const code = text.replaceAll(/^[ \t]*#.*/gm, '');
    if (!/(^|[\s;&|({])(exec|trap)\s/m.test(code)) yield { at: entrypoint, file };
  },
  say: ({ file }) => `${file} never runs exec, so it stays PID 1 in front of the program`,
});
