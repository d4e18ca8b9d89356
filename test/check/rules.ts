import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, type Options, type Result } from '../../src/check/check.ts';
import type { Finding } from '../../src/check/finding.ts';
import { repaired } from '../../src/check/fix.ts';
import type { Rule } from '../../src/check/rules/rule.ts';
import { type Examples, examplesOf, RULES, ruleNamed } from '../../src/check/rules/table.ts';
import { settingsOf } from '../../src/check/settings.ts';
import type { ImageFacts } from '../../src/check/stop/images.ts';
import { ROOT } from '../helpers/paths.ts';

const SCRIPTS: Readonly<Record<string, string>> = {
  'plain.sh': 'server\n',
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

export function examples(id: string): Examples {
  return examplesOf(ruleNamed(id));
}

export const BAD_YAML = RULES.filter(({ on }) => on !== 'dockerfile').map((rule) => examplesOf(rule).bad);

export function checkAs(rule: Rule, text: string, { images = {}, flags }: Around = {}): Promise<Result> {
  const path = rule.on === 'dockerfile' ? 'Dockerfile' : 'manifest.yaml';
  const options = { ...optionsOf(flags ?? rule.flags ?? []), images: new Map(Object.entries(images)) };
  const readBeside = (name: string): string =>
    SCRIPTS[name] ?? readFileSync(join(ROOT, 'src/check/rules', rule.id, name), 'utf8');
  return check([{ path, text, readBeside }], options);
}

export async function findingsOf(rule: Rule, text: string, around?: Around): Promise<readonly Finding[]> {
  const { findings, unreadable } = await checkAs(rule, text, around);
  if (unreadable.length > 0) throw new Error(`${unreadable[0]?.why} in\n${text}`);
  return findings.filter((finding) => finding.rule === rule.id);
}

export async function fixedText(text: string): Promise<string> {
  const inputs = [{ path: 'a.yaml', text }];
  const { changes } = await repaired(inputs, await check(inputs), check);
  return changes[0]?.text ?? text;
}

function optionsOf(flags: readonly string[]): Options {
  const value = (flag: string): string | undefined =>
    flags.includes(flag) ? flags[flags.indexOf(flag) + 1] : undefined;
  const scenario = value('--scenario') ?? 'delete';
  return settingsOf({ scenario, 'kubernetes-version': value('--kubernetes-version') });
}
