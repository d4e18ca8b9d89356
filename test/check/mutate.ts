/**
 * Forces conditions to true and false, moves bounds by one, swaps least and most, opens the ends of patterns. One text
 * holds all mutants of a file; `globalThis.mutant` selects one.
 */
import { join, relative } from 'node:path';
import type { Expression, Node, RegularExpressionLiteral } from 'typescript/unstable/ast';
import { SyntaxKind } from 'typescript/unstable/ast';
import * as is from 'typescript/unstable/ast/is';
import { API } from 'typescript/unstable/sync';
import { ROOT } from '../helpers/paths.ts';

export interface Mutant {
  readonly id: number;
  /** From the root of the repository. */
  readonly file: string;
  readonly line: number;
  /** The rule that it stands in; undefined: what several rules use. */
  readonly rule: string | undefined;
  readonly from: string;
  readonly to: string;
  readonly start: number;
  readonly end: number;
}

export interface Mutated {
  readonly file: string;
  readonly text: string;
  readonly mutants: readonly Mutant[];
}

export function installSwitch(): (mutant: number | undefined) => void {
  const shared = globalThis as { mutant?: number | undefined; mutableRegExp?: unknown };
  shared.mutableRegExp = (sound: RegExp, others: Readonly<Record<number, RegExp>>): RegExp =>
    new (class extends RegExp {
      override exec(text: string): RegExpExecArray | null {
        const chosen = others[shared.mutant ?? -1] ?? sound;
        chosen.lastIndex = this.lastIndex;
        const found = chosen.exec(text);
        this.lastIndex = chosen.lastIndex;
        return found;
      }
    })(sound);
  return (mutant) => {
    shared.mutant = mutant;
  };
}

export class Mutants {
  readonly #texts = new Map<string, string>();
  readonly #api = new API({ cwd: ROOT, fs: { readFile: (path) => this.#texts.get(path) } });
  /** As they were when the mutants were made. */
  readonly #sound = new Map<string, string>();
  #last = 0;

  /** `files` as absolute paths. */
  of(files: readonly string[]): readonly Mutated[] {
    const [project] = this.#api.updateSnapshot({ openProjects: [`${ROOT}/tsconfig.json`] }).getProjects();
    return files.map((path) => {
      const source = project?.program.getSourceFile(path);
      if (source === undefined) throw new Error(`not in the project: ${path}`);
      const file = relative(ROOT, path);
      const { text } = source;
      this.#sound.set(file, text);
      const mutants: Mutant[] = [];
      const add = (node: Node, to: string): number => {
        this.#last += 1;
        const [start, end] = [node.getStart(source), node.getEnd()];
        const line = text.slice(0, start).split('\n').length;
        const rule = /\/(SX\d+)\//.exec(file)?.[1];
        mutants.push({ id: this.#last, file, line, rule, from: flat(textOf(node)), to, start, end });
        return this.#last;
      };
      return { file, text: emitted(source), mutants };

      function textOf(node: Node): string {
        return text.slice(node.getStart(source), node.getEnd());
      }

      /** The text of a node, with the mutants of all that is in it. */
      function emitted(node: Node): string {
        if (is.isPropertyAssignment(node) && TOLD.test(textOf(node.name))) return text.slice(node.pos, node.end);
        const parts: string[] = [];
        let at = node.pos;
        node.forEachChild((child) => {
          // Types are gone at run time, and what is a part of nothing else has no text of its own.
          if (child.pos < at) return;
          parts.push(text.slice(at, child.pos), emitted(child));
          at = child.end;
        });
        parts.push(text.slice(at, node.end));
        const whole = parts.join('');
        const others = alternatives(node).filter((to) => to !== textOf(node));
        if (others.length === 0) return whole;
        const space = whole.slice(0, whole.length - whole.trimStart().length);
        const ids = others.map((to) => ({ id: add(node, to), to }));
        if (is.isRegularExpressionLiteral(node))
          return `${space}globalThis.mutableRegExp(${whole.trim()}, {${ids.map(entry).join(', ')}})`;
        const choice = ids.map(({ id, to }) => `globalThis.mutant === ${id} ? (${to}) : `).join('');
        return `${space}(${choice}(${whole.trim()}))`;
      }

      function alternatives(node: Node): readonly string[] {
        if (is.isRegularExpressionLiteral(node)) return opened(node);
        if (is.isNumericLiteral(node)) return isBound(node) ? [`${textOf(node)} + 1`, `${textOf(node)} - 1`] : [];
        if (is.isCallExpression(node) && is.isPropertyAccessExpression(node.expression)) {
          const callee = textOf(node.expression);
          const other = callee === 'Math.min' ? 'Math.max' : callee === 'Math.max' ? 'Math.min' : undefined;
          const swapped = other === undefined ? [] : [`${other}${textOf(node).slice(callee.length)}`];
          return [...swapped, ...(isCondition(node) ? ['true', 'false'] : [])];
        }
        if (is.isBinaryExpression(node)) {
          const moved = MOVED[node.operatorToken.kind];
          const bound = moved === undefined ? [] : [`${textOf(node.left)} ${moved} ${textOf(node.right)}`];
          const isJunction = JUNCTIONS.has(node.operatorToken.kind);
          return [...bound, ...(isCondition(node) && !isJunction ? ['true', 'false'] : [])];
        }
        if (is.isPrefixUnaryExpression(node) || is.isParenthesizedExpression(node) || is.isConditionalExpression(node))
          return [];
        return isCondition(node) ? ['true', 'false'] : [];
      }

      /** A number that something is compared with, or a default behind `??`. */
      function isBound(node: Node): boolean {
        const { parent } = node;
        if (!is.isBinaryExpression(parent) || textOf(node) === '0') return false;
        const { kind } = parent.operatorToken;
        return kind in MOVED || kind === SyntaxKind.QuestionQuestionToken;
      }

      function isCondition(node: Node): boolean {
        const parent: Node | undefined = node.parent;
        if (parent === undefined) return false;
        if (is.isParenthesizedExpression(parent)) return isCondition(parent);
        if (is.isPrefixUnaryExpression(parent)) return parent.operator === SyntaxKind.ExclamationToken;
        if (is.isIfStatement(parent)) return parent.expression === node;
        if (is.isConditionalExpression(parent)) return parent.condition === node || isCondition(parent);
        if (is.isBinaryExpression(parent) && JUNCTIONS.has(parent.operatorToken.kind))
          return isBoolean(node as Expression);
        if (is.isArrowFunction(parent)) return parent.body === node && isBoolean(node as Expression);
        if (is.isVariableDeclaration(parent)) return parent.initializer === node && isBoolean(node as Expression);
        if (is.isReturnStatement(parent)) return isBoolean(node as Expression);
        return false;
      }

      function isBoolean(node: Expression): boolean {
        const type = project?.checker.getTypeAtLocation(node);
        return type !== undefined && /^(boolean|true|false)$/.test(project?.checker.typeToString(type) ?? '');
      }

      function opened(node: RegularExpressionLiteral): readonly string[] {
        const [, pattern = '', flags = ''] = /^\/(.*)\/([a-z]*)$/s.exec(textOf(node)) ?? [];
        if (pattern.length < 2) return [];
        return [
          ...(pattern.startsWith('^') ? [`/${pattern.slice(1)}/${flags}`] : []),
          ...(pattern.endsWith('$') && !pattern.endsWith('\\$') ? [`/${pattern.slice(0, -1)}/${flags}`] : []),
        ];
      }
    });
  }

  /** A guard that only narrows a type does not compile when it is mutated. */
  compiles({ file, start, end, to }: Mutant): boolean {
    const path = join(ROOT, file);
    const sound = this.#sound.get(file) ?? '';
    this.#texts.set(path, `${sound.slice(0, start)}(${to})${sound.slice(end)}`);
    const changed = { fileChanges: { changed: [path] } };
    const [project] = this.#api.updateSnapshot(changed).getProjects();
    const errors = project?.program.getSemanticDiagnostics(path) ?? [];
    this.#texts.delete(path);
    this.#api.updateSnapshot(changed);
    return errors.length === 0;
  }

  close(): void {
    this.#api.close();
  }
}

function entry({ id, to }: { readonly id: number; readonly to: string }): string {
  return `${id}: ${to}`;
}

const JUNCTIONS: ReadonlySet<SyntaxKind> = new Set([SyntaxKind.AmpersandAmpersandToken, SyntaxKind.BarBarToken]);

const MOVED: Readonly<Partial<Record<SyntaxKind, string>>> = {
  [SyntaxKind.LessThanToken]: '<=',
  [SyntaxKind.LessThanEqualsToken]: '<',
  [SyntaxKind.GreaterThanToken]: '>=',
  [SyntaxKind.GreaterThanEqualsToken]: '>',
};

/** Properties that hold texts for a reader. */
const TOLD = /^(what|say|why|remedy|title)$/;

function flat(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
