import { lastProgramOf, shellCommandOf } from '../../stop/shell.ts';
import { isBehindEntrypoint, ownArgvOfStage } from '../../stop/started.ts';
import { scriptSeverity } from '../common.ts';
import { ofStage } from '../rule.ts';

export const rule = ofStage({
  severity: 'error',
  title: 'sh -c with a list of commands, the last one without exec',
  why: 'The shell waits for its last command and ignores TERM as PID 1. Linters that only ask for the exec form do not see it.',
  remedy: 'Write exec before the last command.',
  *find({ stage, images }) {
    const { started } = stage;
    const script = shellCommandOf(ownArgvOfStage(stage));
    const severity = scriptSeverity(script, stage.base, images);
    if (script === undefined || severity === undefined || started === undefined) return;
    if (!isBehindEntrypoint(stage, images)) yield { at: started, severity, script };
  },
  say: ({ script, severity }) =>
    `${script.shell} -c ${severity === 'info' ? 'may stay' : 'stays'} PID 1 and does not pass the stop signal on: write exec before its last command`,
  fix: ({ at, script }, { stage: { source } }) => {
    const tail = lastProgramOf(script.script);
    const index = tail === undefined ? -1 : source.text.slice(at.start, at.end).lastIndexOf(`${tail}"`);
    // Where JSON escapes something its text is not that of the script.
    if (index === -1) return [];
    return [{ source, start: at.start + index, end: at.start + index, text: 'exec ' }];
  },
});
