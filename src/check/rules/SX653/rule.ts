import type { ComposeService } from '../../input/compose.ts';
import { at, type Located } from '../../input/located.ts';
import { firstShellOf, type ShellCommand } from '../../stop/shell.ts';
import { firstProcessOfService } from '../../stop/started.ts';
import { EXEC_REMEDY, execBefore, scriptSeverity, shellText } from '../common.ts';
import { ofService } from '../rule.ts';

export const rule = ofService({
  severity: 'warning',
  title: 'PID 1 of the service is a shell that does not pass the stop signal on',
  why: 'As PID 1 a shell without a trap ignores TERM, so the command behind it runs on until KILL.',
  remedy: EXEC_REMEDY,
  *find({ service, images }) {
    const script = firstShellOf(firstProcessOfService(service, images));
    const severity = scriptSeverity(script, service.image, images);
    if (script === undefined || severity === undefined) return;
    yield { at: scriptAt(service, script), severity, atMs: service.graceMs, script };
  },
  // `info` is the severity of a shell that only may stay: `shellSeverity`.
  say: ({ script, severity, atMs }) => shellText(script, severity !== 'info', atMs),
  fix: ({ at: node, script }, { service }) => execBefore(service.source, node, script.script),
});

/** The service's text of the script, or the one that ends with it; undefined: the image has it. */
function scriptAt({ node, command = [] }: ComposeService, { fromEnd = 0 }: ShellCommand): Located | undefined {
  const isCommand = fromEnd <= command.length;
  const whole = at(node, isCommand ? 'command' : 'entrypoint');
  const inside = isCommand ? fromEnd : fromEnd - command.length;
  if (whole?.kind === 'list') return whole.items.at(-inside);
  return inside === 1 ? whole : undefined;
}
