import { deployment, job, started } from '../workloads.ts';
import { type Cases, each } from './case.ts';

const DASH = 'debian:12';
const UNKNOWN = 'example.com/any:1';
const LIST = '[sh, -c, "a && b"]';

const script = (text: string, image?: string): string => started(JSON.stringify(['sh', '-c', text]), image);

function given(image: string, args: string): string {
  return deployment(`- name: web\n  image: ${image}\n  args: ${args}`);
}

function trapped(flags: string, signal = 'TERM'): string {
  return started(`[/sexton/sexton, run, ${flags}, --, sh, -c, "trap cleanup ${signal}; server"]`);
}

export const FIRST_PROCESS_CASES: Cases = {
  SX201: {
    'a list in dash': [started(LIST), /^error @30000 \["a && b"\] .*sh -c stays PID 1/],
    'dash in an image of another shell': [started('[dash, -c, "a && b"]', 'fedora:40'), /^error .*dash -c stays/],
    'a pipe in busybox': [started('[sh, -c, "a | b"]', 'alpine:3.20'), /^warning .*sh -c stays/],
    ...each(
      [
        'if [ -n "$DEV" ]; then exec flask run; else exec gunicorn app; fi',
        'case "$M" in dev|test) exec flask run;; *) exec gunicorn app;; esac',
        'prepare && { exec server; }',
        'ulimit -n 65536 && FOO=bar exec server',
        'OPTS="-a -b" exec server',
        'while ! command exec server; do sleep 1; done',
        'eval "exec server $OPTS"',
        'exec 2>&1 server',
      ],
      (text) => [`${text}, in which the shell becomes the program`, script(text)],
    ),
    ...each(
      [
        'exec server 2>&1 | tee /log',
        'prepare | exec server',
        'exec helper & server',
        '(exec server)',
        'a=$(b; exec c); d',
      ],
      (text) => [`${text}, in which only a subshell becomes a program`, [script(text), /^error .*sh -c stays/]],
    ),
    ...each(['a; server /etc/{b,c}', 'a; server $(b 2>&1 | c)', 'a; server "$(b) (c)"'], (text) => [
      `${text}, which bash becomes`,
      script(text, 'fedora:40'),
    ]),
    ...each(
      [
        "trap 'kill $P; exit 0' TERM; server -x",
        'trap -- cleanup SIGTERM INT; prepare && server',
        'trap - TERM; trap cleanup 15; server',
        "trap 'cleanup' EXIT INT TERM; server",
      ],
      (text) => [
        `${text}, whose trap waits for the program`,
        [script(text), /^warning @30000 \[.*\] .*sh runs its trap .* does not get SIGTERM: KILL after 30 s$/, false],
      ],
    ),
    ...each(
      [
        'trap cleanup TERM; server & wait $!',
        'trap cleanup TERM; exec server',
        'trap cleanup TERM; tail -f /log',
        'trap cleanup TERM; while true; do sleep 1; done',
        'trap cleanup TERM; cleanup() { :; }; server',
        'trap cleanup TERM; trap - TERM; server',
        'trap cleanup TERM; trap 15; server',
        'trap cleanup TERM; trap 1 15; server',
        "trap cleanup TERM; trap '' TERM; server",
        'trap cleanup TERM; trap -- - TERM; server',
        'trap; server',
        '(trap cleanup TERM; a); exec server',
      ],
      (text) => [`${text}, whose trap waits for nothing that counts`, script(text)],
    ),
    ...each(['(trap cleanup TERM; a); server', 'pkill -x TERM; server'], (text) => [
      `${text}, in which the shell has no trap`,
      [script(text), /^error .*sh -c stays PID 1/],
    ]),
    'a trap for another signal than the stop signal': script('trap cleanup INT; server'),
    'a trap for the stop signal of the image': [
      script("trap 'kill $!' QUIT; server", 'nginx:1.29'),
      /^warning .* does not get SIGQUIT: KILL after 30 s$/,
      false,
    ],
    'a trap of a Job': [
      job(`- name: web\n  image: ${DASH}\n  command: [sh, -c, "trap cleanup TERM; pg_dump >x"]`),
      /^info .* does not get SIGTERM/,
      false,
    ],
    'a trap under sexton': [trapped('--grace-period, 30s'), /^info @19667 .* gets SIGTERM only after 19.7 s$/, false],
    'a trap under sexton with a drain': [
      trapped('--grace-period, 30s, --drain, 3s'),
      /^info @20667 .* gets SIGTERM only after 20.7 s$/,
      false,
    ],
    'a trap for the first rung under sexton': [
      trapped('--grace-period, 30s, --stop, QUIT', 'QUIT'),
      /^info .* gets SIGQUIT only after 19.7 s$/,
      false,
    ],
    'a trap for no rung under sexton': trapped('--grace-period, 30s, --stop, QUIT'),
    'a trap under sexton without a grace period': [
      trapped('--log-level, info'),
      /^info @30000 .* does not get SIGTERM without --grace-period$/,
      false,
    ],
    'a trap under sexton that signals the group': trapped('--grace-period, 30s, --signal-to, group'),
    'a trap under sexton whose flags are not known': trapped('--config, /etc/x.yaml'),
    'a list in braces in bash': [script('a; { b; c; }', 'fedora:40'), /^warning .*sh -c stays/],
    'a list in parentheses in bash': [script('a; (b; c)', 'fedora:40'), /^warning .*sh -c stays/],
    'a list in a shell that is not known': [started(LIST, UNKNOWN), /^info .*may stay PID 1/],
    'the work of a Job': [job(`- name: web\n  image: ${DASH}\n  command: ${LIST}`), /^info /],
    'a shell behind its hook by the time of its own KILL': [
      deployment(
        `- {name: other, image: "example.com/o:1"}\n- name: web\n  image: ${DASH}\n  command: ${LIST}\n  lifecycle: {preStop: {sleep: {seconds: 30}}}`,
      ),
      /^error @32000 /,
    ],
    'a script behind the end of the options': [
      deployment(
        `- name: web\n  image: ${DASH}\n  command: [/bin/sh, -c, --]\n  args: ["while true; do sleep 30; done;"]\n`,
      ),
      /^error @30000 \["while true; do sleep 30; done;"\] .*sh -c stays PID 1/,
      false,
    ],
    ...each(
      [
        ...['[sh, -c, --, "a; b"]', '[sh, -c, -e, "a; b"]', '[sh, -ec, "a; b", sh, b]', '[sh, -eu, -c, "a; b"]'],
        ...['[sh, -o, errexit, -c, "a; b"]', '[sh, -c, "-", "a; b", b]', '[env, A=b, sh, -c, "a; b"]'],
        ...['[/usr/bin/env, -S, sh, -c, "a; b"]', '[gosu, app, dash, -c, "a; b"]', '[dash, -x, +e, -c, "a; b"]'],
      ],
      (command) => [
        `${command}, whose script has options around it`,
        [started(command), /^error @30000 \["a; b"\] /, command.replace('a; b', 'a; exec b')],
      ],
    ),
    ...each(
      [
        ...['[bash, --norc, -c, "a | b"]', '[bash, --rcfile, /rc, -o, pipefail, -c, "a | b"]'],
        ...['[/usr/bin/env, bash, -c, "a | b"]', '[busybox, sh, -c, "a | b"]'],
      ],
      (command) => [`${command}, which is that shell in any image`, [started(command, UNKNOWN), /^warning .*stays/]],
    ),
    ...each(
      [
        ...['[sh, -c, --]', '[bash, --version, -c, "a; b"]', '[sh, script, -c, "a; b"]', '[sh, "+c", "a; b"]'],
        ...['[tini, --, sh, -c, "a; b"]', '[busybox, httpd, -c, "a; b"]', '[env, -Z, sh, -c, "a; b"]'],
        `[sh, -c, ${'x'.repeat(131_072)}]`,
      ],
      (command) => [`${command.slice(0, 80)}, in which no shell with a script is PID 1`, started(command)],
    ),
    ...each(
      [
        ...['f() { a; }; f', 'function f { a; }; f', '. /lib.sh; start', 'source /lib.sh && start', 'a; alias b=c; b'],
        ...['a; exec 2>&1; -x', 'a; kill 1', 'a || b', 'a; FOO=b c', 'a; select', 'a; b <<E\nE'],
      ],
      (text) => [
        `${text}, before whose last command no exec may stand`,
        /\bf\b/.test(text) ? script(text) : [script(text), /^error /, false],
      ],
    ),
    ...each(
      [
        'tail -f /dev/null',
        'a; exec 2>&1; sleep infinity',
        'cat',
        'a && python3 -m http.server 80',
        'env A=b tail -f x',
      ],
      (text) => [`${text}, which ignores TERM as PID 1 itself`, [script(text), /^error /, false]],
    ),
    'a shell that waits for a program in the background': [script('a & wait', 'fedora:40'), /^warning .*stays/, false],
    'a script that exits, and so has an end': script('a; exit $?'),
    'a trap in a subshell, which the shell does not have': [script('(trap a TERM; b)'), /^error /, false],
    'the script of a shell in a script': [started('[sh, -c, \'exec sh -c "a; b"\', b]'), /^error /, false],
    'an entrypoint of the image in front of the script': [
      given('example.com/entry:1', '[sh, -c, a; b, b]'),
      /^error @30000 \[a; b\] /,
      '[sh, -c, a; exec b, b]',
      { images: { 'example.com/entry:1': { entrypoint: ['env', 'A=b'], shell: 'dash' } } },
    ],
    'a shell with one variable': [started('[sh, -c, "x=1"]'), /^error /, false],
    'a shell builtin': [started('[sh, -c, "a; cd /"]'), /^error /, false],
    'a program alone, and writes before it': [
      started('[sh, -c, server --port 80]'),
      /^error /,
      'exec server --port 80',
    ],
    'a block, and writes before its last command': [
      deployment(
        `- name: web\n  image: ${DASH}\n  command:\n    - sh\n    - -c\n    - |\n      prepare\n      server --port 80\n`,
      ),
      /^error /,
      'prepare\n              exec server --port 80\n',
    ],
    'a script whose text has escapes': [started('[sh, -c, "a; b \\x63"]'), /^error /, false],
    'a command that stands there twice, and writes before the last one': [
      started('[sh, -c, "run; run"]'),
      /^error /,
      'run; exec run',
    ],
    'blanks behind the last command': [started('[sh, -c, "a; b "]'), /^error /, 'a; exec b '],
    'redirections, and writes before the command that they belong to': [
      started('[sh, -c, "python app.py > /log 2>&1"]'),
      /^error /,
      '"exec python app.py > /log 2>&1"',
    ],
    'a semicolon in quotes, and writes before the command that they belong to': [
      started(`[sh, -c, 'migrate && psql -c "select 1; select 2" mydb']`),
      /^error /,
      `'migrate && exec psql -c "select 1; select 2" mydb'`,
    ],
    'a pipe in quotes': [started(`[sh, -c, "a; b 'c | d'; e | f"]`), /^error /, false],
    'a here-document, whose last line is no command': [
      deployment(
        `- name: web\n  image: ${DASH}\n  command:\n    - sh\n    - -c\n    - |-\n      server <<EOF\n      a\n      EOF\n`,
      ),
      /^error /,
      false,
    ],
    'a comment': [started('[sh, -c, "a # then; b"]'), /^error /, false],
    'a folded script with a number sign': [
      deployment(
        `- name: web\n  image: ${DASH}\n  command:\n    - sh\n    - -c\n    - >-\n      prepare '#';\n      server\n`,
      ),
      /^error /,
      'exec server',
    ],
    'a loop among the arguments of an official image that has no entrypoint': [
      given('busybox:1.36', '[sh, -c, "while true; do work; done"]'),
      /^warning @30000 \["while true; do work; done"\] .*sh -c stays PID 1/,
    ],
    'arguments of an image whose entrypoint is not known': given(UNKNOWN, LIST),
    'options of an official image': given('python:3.13', '[-c, "a && b"]'),
  },
  SX206: {
    'the arguments of an official image that starts them': [
      given('node:22', '[npm, start]'),
      /^info @- \[npm\] web: npm is PID 1/,
    ],
    'a package manager behind an init': started('[tini, --, npm, start]'),
    'a package manager under sexton': started('[/sexton/sexton, --, npm, start]'),
    'a program that is called almost so': started('[cnpm, start]'),
    'another one that is called almost so': started('[npmrc, start]'),
  },
};
