/** Classifies each text of the inputs: documents of YAML or JSON (Compose files too), a Dockerfile, or unreadable. */
import { type ComposeService, isCompose, servicesOfCompose } from './compose.ts';
import { type Stage, stageOf } from './dockerfile.ts';
import { parseLocated } from './located.ts';
import { isObject } from './objects.ts';
import { makeSource, positionAt, type Source } from './source.ts';
import type { Root } from './together.ts';

export interface Input {
  readonly path: string;
  readonly text: string;
  /** Text of a file beside it; undefined: it cannot be read. */
  readonly readBeside?: (path: string) => string | undefined;
}

export interface Unreadable {
  readonly path: string;
  readonly line: number | undefined;
  readonly why: string;
}

export type Inputs = ReturnType<typeof readInputs>;

/** Called after each of `what`, such as `documents read`. */
export type OnStep = (what: string) => void;

export function readInputs(inputs: readonly Input[], onStep?: OnStep) {
  const sources: Source[] = [];
  const roots: Root[] = [];
  const services: ComposeService[] = [];
  const stages: Stage[] = [];
  const unreadable: Unreadable[] = [];
  /** Paths of texts without an object of Kubernetes, a Compose file or a Dockerfile. */
  const objectless = new Set<string>();
  let definitions = 0;
  for (const { path, text, readBeside } of inputs) {
    const source = makeSource(path, text);
    sources.push(source);
    if (isDockerfileName(path)) {
      const stage = stageOf(source, readBeside ?? (() => undefined));
      if (stage === undefined) unreadable.push({ path, line: undefined, why: 'no FROM in this Dockerfile' });
      else stages.push(stage);
      continue;
    }
    const { text: bare, definitions: passed } = withoutDefinitions(text);
    definitions += passed;
    const parsed = parseLocated(bare, () => onStep?.('documents read'));
    // Such a text is a template all over: Helm's by its actions, Terraform's and others by their names.
    const isTemplate = /\{\{-?\s*[.$A-Za-z]/.test(text) || /\.(tf)?(tpl|tmpl)$/.test(path);
    const problems = isTemplate
      ? parsed.problems.slice(0, 1).map((one) => ({ ...one, why: TEMPLATE }))
      : parsed.problems;
    for (const { offset, why } of problems) unreadable.push({ path, line: positionAt(source, offset).line, why });
    if (passed === 0 && !parsed.roots.some((root) => isObject(root) || isCompose(root))) objectless.add(path);
    for (const root of parsed.roots) {
      if (isCompose(root)) services.push(...servicesOfCompose(source, root));
      roots.push({ source, root });
    }
  }
  return { sources, roots, services, stages, unreadable, objectless, definitions };
}

export function isDockerfileName(path: string): boolean {
  return /(^|\/)(Dockerfile|Containerfile)(\.(?!(docker|container)ignore$)[^/]*)?$|\.(Dockerfile|Containerfile)$/i.test(
    path,
  );
}

const TEMPLATE = 'a template, not YAML; render it first (helm template) and check the output';

/** `---` at the beginning of a line ends a document wherever it stands. */
const DOCUMENT = /^---(?=\s|$)/m;
const IS_DEFINITION = /^kind:[ \t]*CustomResourceDefinition[ \t]*\r?$/m;

/**
 * CustomResourceDefinitions are generated, hold no pod, and have thousands of lines. Reading them
 * would take most of the time of a check. So they are blanked before the text is read as YAML; it stays as long as it is.
 */
function withoutDefinitions(text: string) {
  if (!IS_DEFINITION.test(text)) return { text, definitions: 0 };
  let definitions = 0;
  const parts = text.split(DOCUMENT).map((document) => {
    // An object has one kind.
    if (!IS_DEFINITION.test(document) || document.match(/^kind:/gm)?.length !== 1) return document;
    definitions += 1;
    return `${' '.repeat(document.length - 1)}\n`;
  });
  return { text: parts.join('---'), definitions };
}
