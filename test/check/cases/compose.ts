import type { Cases } from './case.ts';

const compose = (more: string, image = 'example.com/web:1'): string =>
  `services:\n  web:\n    image: ${image}\n${more}`;

export const COMPOSE_CASES: Cases = {
  SX651: {
    'a timeout that just fits': compose('    entrypoint: [gunicorn, --graceful-timeout, "10", app]\n'),
    'a drain, and leaves the program 10 s behind it': [
      compose('    entrypoint: [/sexton/sexton, run, --drain, 15s, --, /bin/server]\n'),
      /^warning @10000 \[image\] .*15 s/,
      'stop_grace_period: 25s',
    ],
    'a declared grace period, and writes just that': [
      compose(
        '    entrypoint: [/sexton/sexton, run, --grace-period, 20s, --, /bin/server]\n    stop_grace_period: 15s\n',
      ),
      /^warning @15000 \[15s\] .*20 s/,
      'stop_grace_period: 20s',
    ],
  },
  SX652: {
    'a signal of the service itself': [
      compose('    entrypoint: [nginx]\n    stop_signal: SIGTERM\n', 'nginx:1.29'),
      /^warning @- \[SIGTERM\] .*, and stop_signal is SIGTERM/,
      'stop_signal: SIGQUIT\n',
    ],
    'the signal of an image that is not official': [
      compose('    entrypoint: [nginx]\n'),
      /^warning @- \[image\] .*, and the image says SIGTERM \(fix\)$/,
      'stop_signal: SIGQUIT\n',
      { images: { 'example.com/web:1': { stopSignal: 'SIGTERM' } } },
    ],
    'an official image that nothing else is started in': [
      compose('    stop_signal: SIGTERM\n', 'nginx:1.29'),
      /^warning @- \[SIGTERM\] .*nginx ends gracefully on SIGQUIT/,
      'stop_signal: SIGQUIT\n',
    ],
    'an official image in which something else is started': compose(
      '    stop_signal: SIGTERM\n    command: [node, server.js]\n',
      'nginx:1.29',
    ),
    'an official image with another entrypoint': compose(
      '    stop_signal: SIGTERM\n    entrypoint: /start.sh\n',
      'nginx:1.29',
    ),
    'a service that says no signal, made from the image of that server': compose(
      '    entrypoint: [nginx]\n',
      'nginx:1.29',
    ),
    'postgres, whose two signals are both meant': compose(
      '    entrypoint: [postgres]\n    stop_signal: SIGINT\n',
      'postgres:17',
    ),
  },
  SX653: {
    'a list in dash as one text, and writes before its last command': [
      compose('    command: sh -c "prepare && server --port 80"\n', 'debian:12'),
      /^error @10000 \[sh -c "prepare && server --port 80"\] web: sh -c stays PID 1 and ignores TERM: .* KILL after 10 s \(fix\)$/,
      'sh -c "prepare && exec server --port 80"',
    ],
    'redirections, and writes before the command that they belong to': [
      compose('    command: sh -c "server > /log 2>&1"\n', 'debian:12'),
      /^error /,
      'sh -c "exec server > /log 2>&1"',
    ],
    'a script in the list of an entrypoint, by the time that the service has': [
      compose('    entrypoint: [sh, -c, a; b]\n    stop_grace_period: 1m\n', 'debian:12'),
      /^error @60000 \[a; b\] .*KILL after 60 s/,
      '[sh, -c, a; exec b]',
    ],
    'a script in the list of a command behind an entrypoint': [
      compose('    entrypoint: [sh]\n    command: [-c, a; b]\n', 'debian:12'),
      /^error @10000 \[a; b\]/,
      'command: [-c, a; exec b]',
    ],
    'a script that is all of a command': [
      compose('    entrypoint: [sh, -c]\n    command: [a; b]\n', 'debian:12'),
      /^error @10000 \[a; b\]/,
      'command: [a; exec b]',
    ],
    'a script of the image itself': [
      compose('', 'example.com/web:1'),
      /^error @10000 \[image\]/,
      false,
      { images: { 'example.com/web:1': { entrypoint: ['sh', '-c', 'a; b'], shell: 'dash' } } },
    ],
    'a loop in busybox': [
      compose('    command: sh -c "while true; do work; done"\n', 'busybox:1.36'),
      /^warning .*stays PID 1/,
      false,
    ],
    'a script with a word behind it that looks like its end': [
      compose('    entrypoint: [sh, -c]\n    command: ["--", "a; b", b]\n', 'debian:12'),
      /^error @10000 \["a; b"\] /,
      'command: ["--", "a; exec b", b]',
    ],
    'the script of the entrypoint in front of a command': [
      compose('    entrypoint: [sh, -c, "a; b"]\n    command: [c]\n', 'debian:12'),
      /^error @10000 \["a; b"\] /,
      'entrypoint: [sh, -c, "a; exec b"]',
    ],
    'one text with a word behind the script': [
      compose('    command: sh -ec "b" b\n', 'debian:12'),
      /^error @10000 /,
      false,
    ],
    'one text that is the script of the entrypoint': [
      compose('    entrypoint: env bash -c\n    command: "\'a | b; c | d\'"\n'),
      /^warning .*bash -c stays/,
      false,
    ],
    'a shell that is not known': [compose('    entrypoint: [sh, -c, a; b]\n'), /^info .*may stay PID 1/],
    'a dollar that Compose takes for its own': [
      compose('    entrypoint: [sh, -c, a; b $$HOME]\n', 'debian:12'),
      /^error /,
      false,
    ],
    'a shell in busybox': compose('    command: sh -c "a; b"\n', 'alpine:3.20'),
    'a command behind an entrypoint that is not known': compose('    command: sh -c "a; b"\n'),
    'the command of an image that is built here': compose('    build: .\n    command: sh -c "a; b"\n', 'debian:12'),
    'a shell behind the init of Docker': compose('    command: sh -c "a; b"\n    init: true\n', 'debian:12'),
    'a shell that shares the processes of the host': compose('    command: sh -c "a; b"\n    pid: host\n', 'debian:12'),
  },
  SX654: {
    'npm as one text': [
      compose('    command: npm start\n', 'node:22'),
      /^info @- \[command\] web: npm is PID 1 and starts the program by a shell$/,
    ],
    'pnpm in an entrypoint': [compose('    entrypoint: [pnpm, start]\n'), /^info @- \[entrypoint\] web: pnpm is PID 1/],
    'npm behind the init of Docker': compose('    command: npm start\n    init: true\n', 'node:22'),
    'npm behind an init of its own': compose('    entrypoint: [tini, --, npm, start]\n'),
    'npm under sexton': compose('    entrypoint: [/sexton/sexton, --, npm, start]\n'),
  },
  SX655: {
    'a soft limit of open files': [
      compose('    entrypoint: [/sexton/sexton, --, x]\n    ulimits: {nofile: {soft: 25, hard: 1024}}\n'),
      /^warning @- \[25\] web: a limit of 25 open files, and sexton needs 26$/,
    ],
    'tasks of a deployment': [
      compose('    entrypoint: [/sexton/sexton, --, x]\n    deploy: {resources: {limits: {pids: 7}}}\n'),
      /^warning @- \[7\] web: a limit of 7 tasks, and sexton needs 8$/,
    ],
    'tasks that are just enough': compose('    entrypoint: [/sexton/sexton, --, x]\n    pids_limit: 8\n'),
    'tasks without a limit': compose('    entrypoint: [/sexton/sexton, --, x]\n    pids_limit: -1\n'),
    'a service without sexton': compose('    entrypoint: [/bin/x]\n    pids_limit: 2\n'),
  },
};
