import { type Unit, unitsOf, wordsOf } from '../../../config/notation/words.ts';
import { replaceValue } from '../../edits.ts';
import type { Stage } from '../../input/dockerfile.ts';
import { canBeFirst } from '../../stop/shell.ts';
import { firstShellOfStage } from '../../stop/started.ts';
import { scriptSeverity } from '../common.ts';
import { ofStage } from '../rule.ts';

export const rule = ofStage({
  severity: 'warning',
  title: 'The shell form starts the program behind a shell',
  why: "CMD and ENTRYPOINT without brackets are run by /bin/sh -c. Debian's dash stays PID 1 and ignores TERM; busybox becomes its last command.",
  remedy: 'Write the exec form: CMD ["server", "--port", "80"].',
  *find({ stage, images }) {
    const { script, started } = firstShellOfStage(stage, images) ?? {};
    const severity = scriptSeverity(script, stage.base, images);
    if (script === undefined || severity === undefined || started?.form !== 'shell') return;
    yield { at: started, started, severity, script: script.script };
  },
  say: ({ severity }) =>
    `the shell form ${severity === 'info' ? 'may put' : 'puts'} a shell in front of the program, which then does not get the stop signal`,
  fix: ({ started, script }, { stage }) => {
    // In the shell form an ENTRYPOINT ignores its CMD, which the exec form would get as arguments.
    if (stage.entrypoint !== undefined && stage.cmd !== undefined) return [];
    const units = unitsOf(script);
    if (!units.ok || units.value.some(isForShell) || script.includes('\n')) return [];
    const words = wordsOf(units.value);
    if (!words.ok || !canBeFirst(words.value) || isWithoutInterpreter(stage, words.value[0])) return [];
    const list = words.value.map((word) => JSON.stringify(word)).join(', ');
    return [replaceValue(stage.source, started.arguments, `[${list}]`)];
  },
});

/** A script without #! is one for a shell; execve(2) refuses it. */
function isWithoutInterpreter({ copied, readBeside }: Stage, program: string): boolean {
  const file = copied.get(program);
  const text = file === undefined ? undefined : readBeside(file);
  return text !== undefined && !/^(#!|\x7fELF)/.test(text);
}

/** Whether a shell may make something else of it. Double quotes do not protect all, and single ones look the same. */
function isForShell({ char, isQuoted }: Unit): boolean {
  return (isQuoted ? /[$`]/ : /[*?[~#{!]/).test(char);
}
