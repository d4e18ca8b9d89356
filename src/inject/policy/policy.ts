/**
 * `sexton inject -o policy`: objects by which the API server itself injects the pods that are made. One policy injects
 * them, another one tells of those that it leaves as they are.
 */
import { stringify } from 'yaml';
import type { Data } from '../../check/edits.ts';
import { UID } from '../../check/rules/common.ts';
import type { Images } from '../../check/stop/images.ts';
import { PREFIX } from '../annotations.ts';
import type { Delivery } from '../delivery.ts';
import { initContainer, mountsOf, volumesOf, type Way } from '../pieces.ts';
import { literal } from './literal.ts';
import { COMMAND_VARIABLES, rosterVariables } from './variables.ts';

export interface PolicyOptions extends Way {
  readonly images: Images;
  /** A pod that cannot be injected is refused. */
  readonly isStrict: boolean;
}

const NAME = 'sexton-inject';
const API = 'admissionregistration.k8s.io/v1';

export function policyText(options: PolicyOptions): string {
  // No alias, because a reader looks for each text where it counts.
  return objectsOf(options)
    .map((one) => stringify(one, { lineWidth: 0, aliasDuplicateObjects: false }))
    .join('---\n');
}

function objectsOf({ images, isStrict, ...way }: PolicyOptions): readonly object[] {
  const roster = rosterVariables(images);
  const matching = {
    failurePolicy: isStrict ? 'Fail' : 'Ignore',
    matchConstraints: CONSTRAINTS,
    matchConditions: conditionsOf(way.deliver),
  };
  return [
    objectOf('MutatingAdmissionPolicy', {
      ...matching,
      reinvocationPolicy: 'IfNeeded',
      variables: listOf({ ...roster, ...COMMAND_VARIABLES }),
      mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: patchOf(way) } }],
    }),
    objectOf('MutatingAdmissionPolicyBinding', { policyName: NAME }),
    objectOf('ValidatingAdmissionPolicy', { ...matching, variables: listOf(roster), validations: VALIDATIONS }),
    objectOf('ValidatingAdmissionPolicyBinding', {
      policyName: NAME,
      validationActions: isStrict ? ['Deny'] : ['Warn', 'Audit'],
    }),
  ];
}

function objectOf(kind: string, spec: object): object {
  return { apiVersion: API, kind, metadata: { name: NAME }, spec };
}

const CONSTRAINTS = {
  namespaceSelector: {
    matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['kube-system'] }],
  },
  resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
};

/** An injected pod has the volume, so a second call of the policy changes nothing, and the other policy passes it. */
function conditionsOf(deliver: Delivery): readonly object[] {
  return listOf({
    'is-not-disabled': `object.metadata.?annotations[?'${PREFIX}inject'].orValue('') != 'disabled'`,
    'has-free-names': `!object.spec.?volumes.orValue([]).exists(v, v.name in ['sexton', 'graveyard'])
&& !object.spec.containers.exists(c,
  c.?volumeMounts.orValue([]).exists(m, m.mountPath.matches('^/(sexton|graveyard)(/|$)')))`,
    ...(deliver === 'init-container' && {
      'has-free-container':
        "!(object.spec.?initContainers.orValue([]) + object.spec.containers).exists(c, c.name == 'sexton')",
    }),
    'has-no-sexton': "!object.spec.containers.exists(c, c.?command[?0].orValue('').matches('(^|/)sexton$'))",
    'has-own-pid-1': '!object.spec.?hostPID.orValue(false)',
    'is-linux': `object.spec.?os.name.orValue('linux') == 'linux'
&& object.spec.?nodeSelector[?'kubernetes.io/os'].orValue('linux') == 'linux'`,
    'is-no-mirror': "!('kubernetes.io/config.mirror' in object.metadata.?annotations.orValue({}))",
  });
}

function listOf(expressions: Readonly<Record<string, string>>): readonly object[] {
  return Object.entries(expressions).map(([name, expression]) => ({ name, expression }));
}

/** Lists are written as a whole, because a pod may not have them yet. */
function patchOf(way: Way): string {
  const added = (items: readonly Data[]): string => {
    const [own = '', ...shared] = items;
    return `${literal([own])} + (variables.isAlone ? [] : ${literal(shared)})`;
  };
  const addsInit = `[JSONPatch{op: 'add', path: '/spec/initContainers', value:
    ${literal([initContainer(way)])}
    + object.spec.?initContainers.orValue([])}] + `;
  const path = "path: '/spec/containers/' + string(i) +";
  return `variables.members.size() == 0 || variables.missing.size() > 0 || variables.unclear.size() > 0
|| variables.added.exists(n, variables.added[n].exists(w, w.endsWith('/sexton')))
? []
: ${way.deliver === 'init-container' ? addsInit : ''}[JSONPatch{op: 'add', path: '/spec/volumes', value:
    ${added(volumesOf(way, false))}
    + object.spec.?volumes.orValue([])}]
+ object.spec.containers.transformList(i, c, c.name in variables.members,
  JSONPatch{op: 'add', ${path} '/command', value: variables.words[c.name]})
+ object.spec.containers.transformList(i, c, c.name in variables.members,
  JSONPatch{op: 'add', ${path} '/volumeMounts', value:
    ${added(mountsOf(way, false))}
    + c.?volumeMounts.orValue([])})
+ object.spec.containers.transformList(i, c, c.name in variables.members && !variables.isAlone
  && !c.?env.orValue([]).exists(e, e.name == '${UID.name}'),
  JSONPatch{op: 'add', ${path} '/env', value:
    ${literal([UID])}
    + c.?env.orValue([])})`;
}

const VALIDATIONS = [
  {
    expression: 'variables.missing.size() == 0',
    messageExpression: `'no sexton, because the lock does not say what these images start here: ' + variables.missing.join(', ')
+ '; add them by sexton images lock and apply the policy again, or set nodeSelector kubernetes.io/arch if it differs'`,
  },
  {
    expression: 'variables.unclear.size() == 0',
    messageExpression: `'no sexton, because it is not known which container does the work: set ${PREFIX}role.'
+ variables.unclear[0] + ' or that of ' + variables.unclear.join(', ') + ' to sidecar, or main, or skip'`,
  },
];
