import { deployment } from '../../../src/check/rules/examples.ts';
import type { Around } from '../rules.ts';

/** An input that stands at the edge of a rule's condition. */
export interface Case extends Around {
  readonly rule: string;
  readonly what: string;
  readonly text: string;
  /**
   * All that the rule says of it, as `severity @milliseconds [text of the place] message`, with ` (fix)` where it has
   * one; none: it is left alone.
   */
  readonly says: readonly RegExp[];
  /** Stands in the text after --fix; undefined: that is not asked; false: there is no fix. */
  readonly fixed?: string | false;
}

export const WEB = '- name: web\n  image: example.com/web:1\n';

export function hooked(preStop: string, spec = '', image = 'example.com/web:1'): string {
  return deployment(`- name: web\n  image: ${image}\n  lifecycle: {preStop: ${preStop}}`, spec);
}

/** A container under sexton. */
export function under(flags: string, spec = '', more = ''): string {
  return deployment(`${WEB}  command: [/sexton/sexton, run, ${flags}, --, /bin/server]\n${more}`, spec);
}

export function started(command: string, image = 'debian:12', spec = ''): string {
  return deployment(`- name: web\n  image: ${image}\n  command: ${command}`, spec);
}

/** As another kind of workload. */
export function asCronJob(text: string): string {
  return text
    .replace('apiVersion: apps/v1\nkind: Deployment', 'apiVersion: batch/v1\nkind: CronJob')
    .replace(/spec:\n[\s\S]*? {2}template:\n([\s\S]*?)(?=---|$)/, (_, template: string) => {
      const deeper = template.replaceAll(/^(?=.)/gm, '    ');
      return `spec:\n  schedule: "* * * * *"\n  jobTemplate:\n    spec:\n      template:\n${deeper}`;
    });
}
