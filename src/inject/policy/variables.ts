/**
 * What members.ts does, in CEL with the libraries of Kubernetes 1.36. The variables are maps by the names of containers,
 * where they are not lists of these names.
 */
import type { Images } from '../../check/stop/images.ts';
import { FLAGS } from '../../config/flags.ts';
import { PRESET_PROGRAMS } from '../../config/notation/stop/stop-presets.ts';
import { GIVEN, PREFIX } from '../annotations.ts';
import { PROGRAM } from '../members.ts';
import { imageVariables } from './images.ts';

type Variables = Readonly<Record<string, string>>;

function byName(value: string): string {
  return `object.spec.containers.transformMapEntry(i, c, {c.name:\n  ${value.replaceAll('\n', '\n  ')}})`;
}

/** Which containers become members, of what role, and what their images add to them. */
export function rosterVariables(images: Images): Variables {
  return { ...imageVariables(images), ...ROSTER };
}

const ROSTER: Variables = {
  annotations: 'object.metadata.?annotations.orValue({})',
  reference: byName(String.raw`c.image.contains('@') ? variables.digests[?c.image.split('@')[1]].orValue('')
: c.image.substring(c.image.find(r'^((index\.)?docker\.io/)?(library/)?').size())
  + (c.image.matches(r':[^/]*$') ? '' : ':latest')`),
  arch: "object.spec.?nodeSelector[?'kubernetes.io/arch'].orValue('')",
  facts: byName(`variables.images[?variables.reference[c.name]]
.or(variables.images[?variables.reference[c.name] + ' on ' + variables.arch]).orValue({})`),
  added: byName(`has(c.command) ? ['--'] : variables.facts[c.name].size() == 0 ? []
: ['--'] + variables.facts[c.name].?entrypoint.orValue([])
  + (has(c.args) ? [] : variables.facts[c.name].?cmd.orValue([]))`),
  role: byName(`variables.annotations[?'${PREFIX}role.' + c.name].or(variables.facts[c.name].?role[?0])
.orValue(c.image == 'auto' ? 'skip' : 'open')`),
  members: "object.spec.containers.map(c, c.name).filter(n, variables.role[n] != 'skip')",
  worker: "variables.role.exists(n, variables.role[n] in ['main', 'open']) ? 'open' : 'known'",
  mains: "variables.members.filter(n, variables.role[n] in ['main', variables.worker])",
  unclear: `object.spec.restartPolicy == 'Always' || variables.mains.size() < 2 ? []
: variables.mains.filter(n, variables.role[n] == variables.worker)`,
  missing: `object.spec.containers.filter(c, c.name in variables.members && variables.added[c.name].size() == 0)
.map(c, c.image)`,
};

/** The command of each member. */
export const COMMAND_VARIABLES: Variables = {
  isAlone: 'variables.members.size() == 1',
  hookSeconds: byName(String.raw`int(c.?lifecycle.preStop.sleep.seconds.orValue('0'
+ c.?lifecycle.preStop.exec.command.orValue([]).join(' ').find(r'\bsleep [0-9]+s?\b').find('[0-9]+')))`),
  graceSeconds: byName(`variables.hookSeconds[c.name] == 0 ? int(object.spec.terminationGracePeriodSeconds)
: [2, int(object.spec.terminationGracePeriodSeconds) - variables.hookSeconds[c.name]].max()`),
  isServer: byName(String.raw`(variables.added[c.name] + c.?command.orValue([]) + c.?args.orValue([]))
.filter(w, !w.matches(r'^--$|(^|/)(docker-(php-)?entrypoint(\.sh)?|tini|dumb-init|exec)$'))[?0].orValue('')
.find('[^/]*$').matches(r'${PRESET_PROGRAMS.join('|')}')`),
  signal: byName(`c.?lifecycle.stopSignal.optMap(s, s.replace('SIG', ''))
.or(variables.facts[c.name].?signal[?0]).orValue('TERM')`),
  flags: byName(`{
  'restart-policy': string(c.?restartPolicy.orValue(object.spec.restartPolicy)),
  ?'restart-rules': c.?restartPolicyRules.optMap(rules, rules.map(r,
    (r.exitCodes.operator == 'NotIn' ? '!' : '') + r.exitCodes.values.map(v, string(v)).join('|')
    + (r.action == 'Restart' ? '=restart' : '=restart-all')).join(',')),
  ?'grace-period': variables.graceSeconds[c.name] == 0 ? optional.none()
    : optional.of(string(variables.graceSeconds[c.name]) + 's'),
  ?'stop': variables.isServer[c.name] ? optional.of('auto') : optional.none(),
  ?'stop-signals': variables.signal[c.name] in ['TERM', 'INT'] ? optional.none()
    : optional.of('TERM,INT,' + variables.signal[c.name])
}`),
  words: byName(`['${PROGRAM}', 'run']
+ (variables.isAlone ? [] : ['--name=' + c.name])
+ (c.name in variables.mains ? [] : ['--role=sidecar', '--mains=' + variables.mains.join(',')])
+ [${GIVEN.map((key) => `'${FLAGS[key].name}'`).join(', ')}]
  .map(f, variables.annotations[?'${PREFIX}' + f + '.' + c.name]
    .or(variables.annotations[?'${PREFIX}' + f])
    .or(variables.flags[c.name][?f])
    .optMap(v, '--' + f + '=' + v).orValue(''))
  .filter(w, w != '')
+ variables.added[c.name] + c.?command.orValue([])`),
};
