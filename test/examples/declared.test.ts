/** sexton takes every command line in examples and docs, and flags about the pod agree with the manifest. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import {
  allManifests,
  type Container,
  type Manifest,
  type PodSpec,
  parseManifests,
  podSpecOf,
} from '../helpers/manifest.ts';
import { SEXTON } from '../helpers/paths.ts';
import { tempGraveyard } from '../helpers/scratch.ts';

const run = promisify(execFile);

interface Resolved {
  readonly warnings: readonly string[];
  readonly member: {
    readonly name: string;
    readonly role: string;
    readonly restartPolicy: string;
    readonly mains?: readonly string[];
    readonly startAfter: readonly { readonly name: string }[];
    readonly gracePeriodMs?: number;
    readonly solo: boolean;
  };
}

test('sexton takes every command line of a manifest, and its flags agree with the pod', async (t) => {
  const { graveyard } = await tempGraveyard(t);
  assert.deepEqual((await Promise.all(allManifests().map((it) => problemsOf(it, graveyard)))).flat(), []);
});

test('a wrong flag, policy, grace period or name is reported', async (t) => {
  const { graveyard } = await tempGraveyard(t);
  const container = (flags: string): string =>
    `{ name: a, image: a, command: [/sexton/sexton, run, ${flags}, --, ls], volumeMounts: [{ name: g, mountPath: /graveyard }] }`;
  const spec = (flags: string): string =>
    `{ restartPolicy: OnFailure, terminationGracePeriodSeconds: 5, containers: [${container(flags)}] }`;
  for (const [flags, says] of [
    ['--restart-policy=OnFailure, --grace=5s', /--grace/],
    ['--restart-policy=Never, --grace-period=5s', /its pod's restartPolicy is OnFailure, it is told Never/],
    [
      '--restart-policy=OnFailure, --grace-period=6s',
      /its pod's terminationGracePeriodSeconds are 5, it is told 6 seconds/,
    ],
    ['--restart-policy=OnFailure, --role=sidecar, --mains=wrok', /nobody in its pod is called wrok/],
  ] as const) {
    const manifests = parseManifests(`apiVersion: v1\nkind: Pod\nmetadata: { name: a }\nspec: ${spec(flags)}`, flags);
    const problems = (await Promise.all(manifests.map((it) => problemsOf(it, graveyard)))).flat();
    assert.equal(problems.length, 1, problems.join('\n'));
    assert.match(problems[0] ?? '', says);
  }
});

async function problemsOf(manifest: Manifest, graveyard: string): Promise<string[]> {
  const spec = podSpecOf(manifest);
  const commands = (spec?.containers ?? []).flatMap((it) => argumentsOf(it) ?? []);
  if (spec === undefined || commands.length === 0) return [];
  const said: string[] = [];
  const members: Resolved['member'][] = [];
  for (const { container, words } of commands) {
    const told = await explain(container, words, graveyard);
    if (typeof told === 'string') said.push(`${container.name}: ${told}`);
    else {
      members.push(told.member);
      said.push(...told.warnings.map((warning) => `${container.name}: ${warning}`));
    }
  }
  return [...said, ...members.flatMap((it) => mismatches(it, spec, members))].map((it) => `${manifest.from}: ${it}`);
}

function mismatches(
  { name, restartPolicy, gracePeriodMs, mains = [], startAfter, solo }: Resolved['member'],
  { restartPolicy: policy = 'Always', terminationGracePeriodSeconds: seconds = 30 }: PodSpec,
  members: readonly Resolved['member'][],
): string[] {
  const names = new Set(members.map((it) => it.name));
  const unknown = [...mains, ...startAfter.map((it) => it.name)].filter((it) => !names.has(it));
  return [
    ...(!solo && restartPolicy !== policy ? [`its pod's restartPolicy is ${policy}, it is told ${restartPolicy}`] : []),
    ...(gracePeriodMs !== undefined && gracePeriodMs !== seconds * 1000
      ? [`its pod's terminationGracePeriodSeconds are ${seconds}, it is told ${gracePeriodMs / 1000} seconds`]
      : []),
    ...unknown.map((it) => `nobody in its pod is called ${it}`),
  ].map((it) => `${name}: ${it}`);
}

/** The words behind sexton's name, if the container starts sexton and the subcommand is `run`. */
function argumentsOf(container: Container): { container: Container; words: readonly string[] }[] | undefined {
  const [program = '', ...words] = [...(container.command ?? []), ...(container.args ?? [])];
  const isRun = words[0] === 'run' || words[0] === '--' || words[0]?.startsWith('--') === true;
  return basename(program) === 'sexton' && isRun ? [{ container, words }] : undefined;
}

async function explain(container: Container, words: readonly string[], graveyard: string): Promise<Resolved | string> {
  const env: Record<string, string> = { PATH: '/usr/bin:/bin' };
  for (const { name, value } of (container.env ?? []) as { name: string; value?: string }[]) env[name] = value ?? 'x';
  const shares = container.volumeMounts?.some(({ mountPath }) => mountPath === '/graveyard') === true;
  if (shares) env.SEXTON_GRAVEYARD ??= graveyard;
  try {
    const { stdout } = await run(SEXTON, ['explain', '-o', 'json', ...words], { env });
    return JSON.parse(stdout) as Resolved;
  } catch (error) {
    return error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
  }
}
