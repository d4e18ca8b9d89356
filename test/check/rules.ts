/**
 * Runs the examples of a rule as an input of its kind.
 */
import { check, type Options, type Result } from '../../src/check/check.ts';
import type { Finding } from '../../src/check/finding.ts';
import type { Rule } from '../../src/check/rules/rule.ts';
import { parseScenarios } from '../../src/check/scenarios.ts';
import type { ImageFacts } from '../../src/check/stop/images.ts';

const SCRIPTS: Readonly<Record<string, string>> = {
  'without-exec.sh': '#!/bin/sh\n# exec comes later\nserver "$@"\n',
  'with-exec.sh': '#!/bin/sh\nprepare\nexec server "$@"\n',
  'number-sign.sh': '#!/bin/sh\n[ $# = 0 ] || exec server "$@"\n',
  'commented.sh': '#!/bin/sh\nif true; then\n  # exec comes later\n  server\nfi\n',
  'script.py': '#!/usr/bin/python3\nserve()\n',
  'writes-script.py': '#!/usr/bin/python3\nprint("#!/bin/sh")\n',
};

export interface Around {
  /** As the file of `--images` has them. */
  readonly images?: Readonly<Record<string, ImageFacts>>;
  readonly flags?: readonly string[];
}

export function checkExample(rule: Rule, text: string, { images = {}, flags }: Around = {}): Promise<Result> {
  const path = rule.language === 'dockerfile' ? 'Dockerfile' : 'manifest.yaml';
  const options = { ...optionsOf(flags ?? rule.flags ?? []), images: new Map(Object.entries(images)) };
  return check([{ path, text, readBeside: (name) => SCRIPTS[name] }], options);
}

export async function findingsOf(rule: Rule, text: string, around?: Around): Promise<readonly Finding[]> {
  return (await checkExample(rule, text, around)).findings.filter((finding) => finding.rule === rule.id);
}

function optionsOf(flags: readonly string[]): Options {
  const value = (flag: string): string | undefined =>
    flags[flags.indexOf(flag) + (flags.includes(flag) ? 1 : flags.length)];
  const scenarios = parseScenarios(value('--scenario') ?? 'delete');
  const version = value('--kubernetes-version');
  return {
    scenarios: scenarios.ok ? scenarios.value : [],
    minor: version === undefined ? undefined : Number(version.split('.')[1]),
  };
}
