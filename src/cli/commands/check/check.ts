/** `sexton check [flags] FILE|DIR|-`: how pods, Compose services and images will stop, before they are deployed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { check as checkInputs, type Result } from '../../../check/check.ts';
import { collect, withNothing } from '../../../check/files.ts';
import { type Finding, fingerprintsOf, isAtLeast, type Severity } from '../../../check/finding.ts';
import { diffOf, repaired } from '../../../check/fix.ts';
import { rulesText, ruleText } from '../../../check/formats/explain.ts';
import { CHECK_SCHEMA, githubOf, jsonOf, junitOf } from '../../../check/formats/machine.ts';
import { checkPage, workloadSvg } from '../../../check/formats/pictures.ts';
import { sarifOf } from '../../../check/formats/sarif.ts';
import { textOf } from '../../../check/formats/text.ts';
import type { Input } from '../../../check/input/texts.ts';
import { isResourceList, krmOf } from '../../../check/krm.ts';
import { RULE_IDS, ruleNamed } from '../../../check/rules/table.ts';
import { type Format, fileSettings, type Settings, settingsOf } from '../../../check/settings.ts';
import { replaceText } from '../../../check/write-back.ts';
import type { Env } from '../../../config/env.ts';
import { didYouMean, nearest } from '../../../config/notation/nearest.ts';
import { show } from '../../../config/notation/parse.ts';
import { whyNoFile } from '../../../text/errors.ts';
import { outputWidth, print, printJson } from '../../../text/print.ts';
import { versionNumber } from '../../../text/version.ts';
import { readArguments, refusalOf } from '../arguments.ts';
import { textStyle } from '../text-style.ts';
import { progressLine } from './progress.ts';
import { settingsFor } from './settings-for.ts';

const refuse = refusalOf('check');

export const CHECK_EXIT = { clean: 0, found: 1, unreadable: 2 } as const;

export async function check(args: readonly string[], env: Env): Promise<void> {
  const { flags: values, words: positionals } = readArguments('check', args);
  if (values['list-rules'] === true) return void (await print(rulesText(outputWidth())));
  if (values.schema === true) return void (await printJson(CHECK_SCHEMA));
  if (values.explain !== undefined) return void (await print(ruleText(ruleNamed(knownRule(values.explain)))));
  if (positionals.length === 0) throw refuse('nothing to check; name a file, a directory, or - for standard input');
  if (values.fix === true && positionals.includes('-')) throw refuse('--fix: cannot write standard input; take --diff');
  const settings = settingsFor('check', () => settingsOf({ ...fileSettings(), ...values }));
  const { timeline } = settings;
  if (values.diff === true && (timeline === 'svg' || timeline === 'html'))
    throw refuse(`--diff: prints a patch; leave --timeline ${timeline} out`);
  const collected = collect(positionals, () => readFileSync(0));
  const { inputs } = collected;
  const { step: onStep, end } = progressLine();
  const checked = async (texts: readonly Input[]): Promise<Result> => {
    const all = await checkInputs(texts, { ...settings, onStep });
    const unreadable = [...collected.unreadable, ...all.unreadable];
    const empty = values['allow-empty'] === true ? [] : withNothing(collected, { ...all, unreadable });
    return withoutBaseline({ ...all, unreadable: [...unreadable, ...empty] }, settings.baseline);
  };
  const result = await checked(inputs);
  const isFix = values.fix === true && values.diff !== true;
  const { changes, result: after } =
    isFix || values.diff === true
      ? await repaired(inputs, result, checked, (finding) => isRepaired(finding, settings))
      : { changes: [], result };
  end();
  if (isFix)
    for (const { source, text } of changes) write('fix', source.path, (path) => replaceText(path, source.text, text));
  if (values.diff === true) await print(changes.map(diffOf).join(''));
  else if (timeline === 'svg') await print(picture(result));
  else if (timeline === 'html') await print(checkPage(result));
  const list = inputs.find(({ path, text }) => path === '-' && isResourceList(text))?.text;
  const outputs =
    list !== undefined && values.output === undefined && settings.outputs.length > 0
      ? [{ format: 'krm' as const, file: undefined }]
      : settings.outputs;
  for (const { format, file } of outputs) {
    if (values.diff === true && file === undefined) continue;
    const text = formatted(format, result, settings, env, list);
    if (file === undefined) await print(text);
    else write('output', file, (path) => writeFileSync(path, text));
  }
  // What is repaired is found no more.
  process.exitCode = exitCodeOf(isFix ? after : result, settings.failOn);
}

function exitCodeOf({ findings, unreadable }: Result, failOn: Severity | 'never'): number {
  if (unreadable.length > 0) return CHECK_EXIT.unreadable;
  const hasFailed = failOn !== 'never' && findings.some(({ severity }) => isAtLeast(severity, failOn));
  return hasFailed ? CHECK_EXIT.found : CHECK_EXIT.clean;
}

/** What is only good to know is repaired where it is asked for: it may be hundreds of edits. */
function isRepaired({ severity }: Finding, { failOn, only }: Settings): boolean {
  return only !== undefined || failOn === 'info' || isAtLeast(severity, 'warning');
}

function withoutBaseline(result: Result, baseline: ReadonlySet<string>): Result {
  if (baseline.size === 0) return result;
  const prints = fingerprintsOf(result.findings);
  return { ...result, findings: result.findings.filter((finding) => !baseline.has(prints.get(finding) ?? '')) };
}

function knownRule(text: string): string {
  const id = text.toUpperCase();
  if (RULE_IDS.includes(id)) return id;
  const remedy = didYouMean(nearest(id, RULE_IDS), '--list-rules names them');
  throw refuse(`--explain ${show(text)}: no such rule; ${remedy}`);
}

function picture(result: Result): string {
  const [only, ...more] = result.workloads;
  if (only !== undefined && more.length === 0) return workloadSvg(only, result);
  throw refuse(
    `--timeline svg: draws one workload, and there are ${result.workloads.length}; name a file that has one, or take html`,
  );
}

function write(flag: 'fix' | 'output', file: string, doIt: (path: string) => void): void {
  try {
    doIt(file);
  } catch (error) {
    throw refuse(`--${flag}: cannot write ${show(file)}: ${whyNoFile(error)}`);
  }
}

function formatted(format: Format, result: Result, { timeline }: Settings, env: Env, list: string | undefined): string {
  switch (format) {
    case 'text':
      return textOf(result, textStyle(env, PIPE_COLUMNS), timeline === 'text');
    case 'json':
      return jsonOf(result);
    case 'sarif':
      return sarifOf(result, versionNumber());
    case 'junit':
      return junitOf(result);
    case 'github':
      return githubOf(result);
    case 'krm':
      if (list === undefined) throw refuse('--output krm: there is no ResourceList on standard input');
      return krmOf(list, result);
    default:
      return format satisfies never;
  }
}

const PIPE_COLUMNS = 100;
