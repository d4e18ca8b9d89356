import { firstShellOfStage } from '../../stop/started.ts';
import { EXEC_REMEDY, execBefore, scriptSeverity } from '../common.ts';
import { ofStage } from '../rule.ts';

export const rule = ofStage({
  severity: 'error',
  title: 'sh -c with a list of commands, the last one without exec',
  why: 'The shell waits for its last command and ignores TERM as PID 1. Linters that only ask for the exec form do not see it.',
  remedy: EXEC_REMEDY,
  *find({ stage, images }) {
    const { script, started, word } = firstShellOfStage(stage, images) ?? {};
    const severity = scriptSeverity(script, stage.base, images);
    if (script === undefined || severity === undefined || started?.form !== 'exec') return;
    yield { at: started, severity, script, word };
  },
  say: ({ script, severity }) =>
    `${script.shell} -c ${severity === 'info' ? 'may stay' : 'stays'} PID 1 and does not pass the stop signal on: write exec before its last command`,
  fix: ({ script, word }, { stage: { source } }) => execBefore(source, word, script.script),
});
