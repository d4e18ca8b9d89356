/** Injects texts as the command does, with a lock that is given here. */
import { familiarName, type ImageFacts } from '../../src/check/stop/images.ts';
import { type Injected, inject, type Options, uninject } from '../../src/inject/inject.ts';

const FACTS: Readonly<Record<string, ImageFacts>> = {
  nginx: { entrypoint: ['/docker-entrypoint.sh'], cmd: ['nginx', '-g', 'daemon off;'], stopSignal: 'SIGQUIT' },
  busybox: { cmd: ['sh'] },
  app: { entrypoint: ['/app', '--home=$HOME'], cmd: ['--serve'] },
  empty: {},
  locked: { entrypoint: ['/app'], digest: `sha256:${'a'.repeat(64)}` },
};

export const OPTIONS: Options = {
  image: 'example.com/sexton:1',
  deliver: 'image-volume',
  version: '0.1.0',
  images: new Map(Object.entries(FACTS).map(([name, facts]) => [familiarName(name), facts])),
};

export function injected(text: string, options: Partial<Options> = {}): Promise<Injected> {
  return inject([{ path: 'x.yaml', text }], { ...OPTIONS, ...options });
}

/** The text afterwards; throws where a pod is refused. */
export async function injectedText(text: string, options: Partial<Options> = {}): Promise<string> {
  return textOf(text, await injected(text, options));
}

export async function uninjectedText(text: string): Promise<string> {
  return textOf(text, await uninject([{ path: 'x.yaml', text }]));
}

export function textOf(before: string, { changes, outcomes }: Injected): string {
  for (const { refusal } of outcomes) if (refusal !== undefined) throw refusal;
  return changes[0]?.text ?? before;
}
