/** Scripts as shfmt reads them, whose parser is another one than ours. */
import { spawnSync } from 'node:child_process';

export interface Stmt {
  readonly Pos: { readonly Offset: number };
  readonly Cmd?: Cmd;
  readonly Negated?: boolean;
  readonly Background?: boolean;
  readonly Redirs?: readonly unknown[];
}

interface Cmd {
  readonly Type: string;
  readonly Pos: { readonly Offset: number };
  readonly Op?: number;
  readonly X?: Stmt;
  readonly Y?: Stmt;
  readonly Assigns?: readonly unknown[];
  readonly Args?: readonly Word[];
}

interface Word {
  readonly Parts: readonly { readonly Type: string; readonly Value?: string }[];
}

const OPERATORS = new Map([
  [10, '&&'],
  [11, '||'],
  [12, '|'],
  [13, '|'],
]);

export const HAS_SHFMT = spawnSync('shfmt', ['--version']).status === 0;

/** undefined: it has a mistake. */
export function parsed(script: string): { readonly Stmts?: readonly Stmt[] } | undefined {
  const { status, stdout } = spawnSync('shfmt', ['-ln', 'bash', '--to-json'], { input: script, encoding: 'utf8' });
  return status === 0 ? JSON.parse(stdout) : undefined;
}

/** The operator of a list or pipe; undefined: it is none. */
export function operatorOf(cmd: Cmd | undefined): string | undefined {
  return cmd?.Type === 'BinaryCmd' ? OPERATORS.get(cmd.Op ?? -1) : undefined;
}

/** The words of a simple command as far as they are literal; others are empty. */
export function literals({ Args = [] }: Cmd): readonly string[] {
  return Args.map(({ Parts }) => Parts.map(({ Value = '' }) => Value).join(''));
}

/** Commands of the shell itself: none of a subshell, a pipe, the background or a function. */
export function* ownCommands(stmts: readonly Stmt[]): Generator<Cmd> {
  for (const { Cmd: cmd, Background } of stmts) {
    if (cmd === undefined || Background) continue;
    yield cmd;
    if (operatorOf(cmd) === '|' || cmd.Type === 'Subshell' || cmd.Type === 'FuncDecl') continue;
    yield* ownCommands(statementsIn(cmd));
  }
}

/** Commands of substitutions are left out: they run in subshells. */
function statementsIn(node: object): readonly Stmt[] {
  return Object.entries(node).flatMap(([key, value]): readonly Stmt[] => {
    if (key === 'X' || key === 'Y') return [value];
    if (key === 'Stmts' || key === 'Cond' || key === 'Then' || key === 'Do') return value;
    if (key === 'Else') return statementsIn(value);
    return key === 'Items' ? value.flatMap(statementsIn) : [];
  });
}
