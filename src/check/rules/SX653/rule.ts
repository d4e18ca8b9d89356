import type { ComposeService } from '../../input/compose.ts';
import { at, type Located } from '../../input/located.ts';
import { shellCommandOf } from '../../stop/shell.ts';
import { firstProcessOfService } from '../../stop/started.ts';
import { execBefore, scriptSeverity, shellText } from '../common.ts';
import { ofService } from '../rule.ts';

export const rule = ofService({
  severity: 'warning',
  title: 'PID 1 of the service is a shell that does not pass the stop signal on',
  why: 'As PID 1 a shell without a trap ignores TERM, so the command behind it runs on until KILL.',
  remedy: 'Write exec before the last command of the script, or start the program without a shell.',
  *find({ service, images }) {
    const script = shellCommandOf(firstProcessOfService(service, images));
    const severity = scriptSeverity(script, service.image, images);
    if (script === undefined || severity === undefined) return;
    yield { at: scriptAt(service, script.index), severity, atMs: service.graceMs, script };
  },
  // `info` is the severity of a shell that only may stay: `shellSeverity`.
  say: ({ script, severity, atMs }) => shellText(script, severity !== 'info', atMs),
  fix: ({ at: node, script }, { service }) => execBefore(service.source, node, script.script),
});

/** Where the service has the word of that index, or the text with it; undefined: the image has it. */
function scriptAt({ node, argv, command = [] }: ComposeService, index: number): Located | undefined {
  const before = argv === undefined ? 0 : argv.length - command.length;
  const [from, word] = index < before ? (['entrypoint', index] as const) : (['command', index - before] as const);
  const whole = at(node, from);
  return whole?.kind === 'list' ? at(whole, word) : whole;
}
