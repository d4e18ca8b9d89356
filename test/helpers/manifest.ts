/** Manifests of the examples and docs: YAML with apiVersion and kind, in a file or a block of a Markdown page. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { ROOT } from './paths.ts';

export interface Manifest {
  /** File and line, for messages. */
  readonly from: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly content: Readonly<Record<string, unknown>>;
}

export interface Volume {
  name: string;
  readonly [kind: string]: unknown;
}

export interface Container {
  readonly name: string;
  image: string;
  command?: readonly string[];
  args?: readonly string[];
  readonly volumeMounts?: readonly { name: string; readonly mountPath: string }[];
  readonly [key: string]: unknown;
}

export interface PodSpec {
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  readonly terminationGracePeriodSeconds?: number;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly [key: string]: unknown;
}

/** All manifests of the repository but the bad examples of the check's rules. */
export function allManifests(): Manifest[] {
  const patterns = ['examples/**/*.{yaml,yml,md}', 'docs/**/*.{yaml,yml,md}', '*.md'];
  const files = globSync(patterns, { cwd: ROOT, exclude: ['docs/rules.md'] });
  return files.sort().flatMap(readManifests);
}

/** The manifests of one file, named from the repository's root. Documents without apiVersion or kind are left out. */
export function readManifests(file: string): Manifest[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const blocks = file.endsWith('.md') ? yamlBlocks(text) : [{ line: 1, text }];
  return blocks.flatMap(({ line, text }) => parseManifests(text, `${file}:${line}`));
}

export function parseManifests(text: string, from: string): Manifest[] {
  // kubectl reads YAML 1.1, in which `yes` is no text.
  return parseAllDocuments(text, { version: '1.1', merge: true }).flatMap((document) => {
    const [problem] = document.errors;
    if (problem) throw new Error(`cannot read the YAML of ${from}: ${problem.message}`);
    const content: unknown = document.toJS();
    if (!isObject(content)) return [];
    const { apiVersion, kind } = content;
    return typeof apiVersion === 'string' && typeof kind === 'string' ? [{ from, apiVersion, kind, content }] : [];
  });
}

/** The pod spec of a Pod or of an object that makes pods: a copy, which may be changed. */
export function podSpecOf({ kind, content }: Manifest): PodSpec | undefined {
  const path = PATHS[kind];
  if (path === undefined) return undefined;
  let found: unknown = content;
  for (const key of path) found = isObject(found) ? found[key] : undefined;
  return structuredClone(found) as PodSpec | undefined;
}

const TEMPLATE = ['spec', 'template', 'spec'];

const PATHS: Readonly<Record<string, readonly string[]>> = {
  Pod: ['spec'],
  Job: TEMPLATE,
  Deployment: TEMPLATE,
  StatefulSet: TEMPLATE,
  DaemonSet: TEMPLATE,
  CronJob: ['spec', 'jobTemplate', ...TEMPLATE],
};

function yamlBlocks(markdown: string): { readonly line: number; readonly text: string }[] {
  return [...markdown.matchAll(/^([ \t]*)```ya?ml\n(.*?)^\1```$/gms)].map(
    ({ index, 1: indent = '', 2: text = '' }) => ({
      line: markdown.slice(0, index).split('\n').length + 1,
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
