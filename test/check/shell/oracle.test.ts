/** The fates of scripts and their fixes, judged by shfmt, which has a parser of its own. */
import '../../helpers/seeded.ts';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Fate, fateOf, lastProgramOf } from '../../../src/check/stop/shell.ts';
import { commandsOf } from '../../../src/config/notation/shell.ts';
import { SCRIPTS } from './scripts.ts';
import { HAS_SHFMT, literals, operatorOf, ownCommands, parsed, type Stmt } from './shfmt.ts';

const options = { skip: HAS_SHFMT ? false : 'shfmt is not installed (apt-get install shfmt)' };

describe('scripts of shells', options, () => {
  it('each script of the corpus has the fate that follows from the parser of shfmt', () => {
    const read = SCRIPTS.filter(agrees);
    assert.ok(read.length > SCRIPTS.length - 10, `${read.length} of ${SCRIPTS.length}`);
  });

  it('exec before the last command changes nothing else in a script of the corpus', () => {
    const fixed = SCRIPTS.filter(getsExec);
    assert.ok(fixed.length > 40, `${fixed.length} of ${SCRIPTS.length}`);
  });

  it('any script has the fate, and the place for exec, that follow from the parser of shfmt', () => {
    let read = 0;
    fc.assert(
      fc.property(script, (text) => {
        if (agrees(text)) read += 1;
        getsExec(text);
      }),
      { numRuns: 150 },
    );
    assert.ok(read > 50, `${read}`);
  });
});

const word = fc.constantFrom(
  ...['server', '--port', '80', "'a; b'", '"c & $d"', '"$(e "f; g" | h)"', '$(i; j)', '`k | l`', `\${m:-n;o}`, '\\;'],
  ...['p#q', '"it\'s"', "'\"'", '$((1 | 2))', `\${#r}`, '<(s; t)', '\\\n', 'u=v', '{w,x}', '$!'],
);
const tail = fc.constantFrom('', '', '', ' >/log', ' 2>&1', ' &>/log', ' </in', ' # a; "b\n', " <<E\n'c & d\nE\n");
const simple = fc
  .tuple(
    fc.constantFrom('server', 'server', './run', '/bin/run', 'a=b server', 'exec server', 'trap x TERM', 'wait'),
    fc.array(word, { maxLength: 3 }),
    tail,
  )
  .map(([program, words, end]) => `${[program, ...words].join(' ')}${end}`);
const plain = fc.constantFrom('wait', 'exit', 'exec 2>&1', 'command exec a', 'eval exec b', 'a=b', '! c', ':', '[ d ]');
const joiner = fc.constantFrom('; ', ' && ', ' || ', ' | ', ' & ', '\n', ' |\n', ' &&\n');

const { script } = fc.letrec<{ script: string; command: string }>((tie) => ({
  script: fc
    .tuple(
      tie('command'),
      fc.array(fc.tuple(joiner, tie('command')), { maxLength: 3 }),
      fc.constantFrom('', '', '\n', ' &', ';'),
    )
    .map(([first, others, end]) => first + others.map(([sign, one]) => sign + one).join('') + end),
  command: fc.oneof(
    { maxDepth: 2 },
    { arbitrary: simple, weight: 5 },
    { arbitrary: plain, weight: 2 },
    tie('script').map((inner) => `{\n${inner}\n}`),
    tie('script').map((inner) => `(${inner}\n)`),
    tie('script').map((inner) => `if true; then ${inner}\nfi`),
    tie('script').map((inner) => `while true; do ${inner}\ndone`),
    tie('script').map((inner) => `case $x in a|b) ${inner}\n;; *) c;; esac`),
    tie('script').map((inner) => `(f() { ${inner}\n}; c)`),
  ),
}));

/** false: shfmt finds a mistake in it, or it is too much for our reader. */
function agrees(script: string): boolean {
  const tree = parsed(script);
  if (tree === undefined || commandsOf(script) === undefined) return false;
  const own = [...ownCommands(tree.Stmts ?? [])];
  const last = tree.Stmts?.at(-1);
  const becomes = last === undefined || last.Background === true || exits(last) || own.some(takesOver);
  for (const shell of ['dash', 'bash'] as const) {
    const stays = !becomes && (shell === 'dash' || staysInBash(last, (tree.Stmts?.length ?? 0) > 1));
    const expected: Fate = { stays, mayStay: stays };
    const command = { shell: 'sh', kind: undefined, script, fromEnd: 1, isStrict: false };
    assert.deepEqual(fateOf(command, shell), expected, `${shell}: ${script}`);
  }
  return true;
}

function takesOver(cmd: Parameters<typeof literals>[0]): boolean {
  if (cmd.Type === 'FuncDecl') return true;
  const words = cmd.Type === 'CallExpr' ? literals(cmd) : [];
  const [program, argument] = words[0] === 'command' ? words.slice(1) : words;
  if (program === 'eval') return words.some((one) => /exec|trap/.test(one));
  return program === 'trap' || (program === 'exec' && argument !== undefined);
}

function exits({ Cmd: cmd }: Stmt): boolean {
  if (/^(&&|\|\|)$/.test(operatorOf(cmd) ?? '') && cmd?.Y !== undefined) return exits(cmd.Y);
  return cmd?.Type === 'CallExpr' && literals(cmd)[0] === 'exit';
}

function staysInBash(stmt: Stmt, hasOthers: boolean): boolean {
  const { Cmd: cmd, Negated, Redirs } = stmt;
  const operator = operatorOf(cmd);
  if (operator === '&&' && cmd?.Y !== undefined) return staysInBash(cmd.Y, true);
  if (cmd === undefined || operator !== undefined || Negated || Redirs !== undefined) return true;
  if (cmd.Type !== 'CallExpr') return !/^(TestClause|DeclClause|LetClause|TimeClause)$/.test(cmd.Type);
  return hasOthers && literals(cmd)[0] === 'wait';
}

/** false: no exec is proposed. */
function getsExec(script: string): boolean {
  const tail = lastProgramOf(script);
  const before = parsed(script);
  if (tail === undefined || before === undefined) return false;
  const at = script.trimEnd().length - tail.length;
  const after = parsed(`${script.slice(0, at)}exec ${script.slice(at)}`);
  const program = lastOf(after?.Stmts);
  assert.ok(program?.Type === 'CallExpr' && program.Assigns === undefined, script);
  assert.equal(program.Pos.Offset, at, script);
  assert.equal(literals(program)[0], 'exec', script);
  const withoutExec = { ...program, Args: program.Args?.slice(1) };
  const restored = JSON.parse(JSON.stringify(after), (_, value) =>
    value?.Pos?.Offset === at && value.Type === 'CallExpr' ? withoutExec : value,
  );
  assert.deepEqual(withoutPlaces(restored), withoutPlaces(before), script);
  return true;
}

function lastOf(stmts: readonly Stmt[] | undefined) {
  let stmt = stmts?.at(-1);
  while (operatorOf(stmt?.Cmd) === '&&') stmt = stmt?.Cmd?.Y;
  return stmt?.Background || stmt?.Negated ? undefined : stmt?.Cmd;
}

function withoutPlaces(tree: unknown): unknown {
  return JSON.parse(JSON.stringify(tree), (_, value) => (value?.Line === undefined ? value : undefined));
}
