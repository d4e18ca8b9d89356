import { type Cases, each } from './case.ts';

export const DOCKER_CASES: Cases = {
  SX601: {
    'busybox, which becomes the program': 'FROM alpine:3.20\nCMD server --port 80\n',
    'a variable in front of the program, which needs the shell': [
      'FROM debian:12\nCMD PORT=80 server\n',
      /^error /,
      false,
    ],
    'a shell builtin': ['FROM debian:12\nCMD source /etc/rc\n', /^error /, false],
    'programs whose names resemble words of the shell': [
      'FROM debian:12\nCMD reset execute\n',
      /^error /,
      'CMD ["reset", "execute"]',
    ],
    'a command on two lines': [
      'FROM debian:12\nCMD server \\\n  --port 80\n',
      /^error /,
      'CMD ["server", "--port", "80"]',
    ],
    'a shell that is not known': ['FROM example.com/a:1\nCMD server\n', /^info .* may put a shell/],
    'a script without #!, which only a shell starts': [
      'FROM debian:12\nCOPY plain.sh /run.sh\nCMD /run.sh\n',
      /^error /,
      false,
    ],
    'a script with #!': ['FROM debian:12\nCOPY commented.sh /run.sh\nCMD /run.sh\n', /^error /, 'CMD ["/run.sh"]'],
    'a shell that would ignore TERM itself': ['FROM debian:12\nCMD bash -l\n', /^error /, false],
    'an idle program, which ignores TERM as PID 1 itself': [
      'FROM debian:12\nCMD tail -f /dev/null\n',
      /^error /,
      false,
    ],
    'the shell form behind an entrypoint that starts what it is given': [
      'FROM debian:12\nENTRYPOINT ["docker-entrypoint.sh"]\nCMD a; b\n',
      /^error @- \[CMD a; b\] /,
      false,
    ],
    'the shell form behind an init': 'FROM debian:12\nENTRYPOINT ["tini", "--"]\nCMD a; b\n',
    'a pipe in busybox': ['FROM alpine:3.20\nCMD server | tee /log\n', /^warning .* puts a shell/],
    'bash by SHELL, which becomes the program':
      'FROM debian:12\nSHELL ["/bin/bash", "-o", "pipefail", "-c"]\nCMD server --port $PORT\n',
    'bash by SHELL in front of a pipe': [
      'FROM debian:12\nSHELL ["/bin/bash", "-o", "pipefail", "-c"]\nCMD server | tee /log\n',
      /^warning .* puts a shell/,
    ],
    'a SHELL that is none of Unix': 'FROM example.com/a:1\nSHELL ["powershell", "-Command"]\nCMD server\n',
    'an image of Windows, whose shell is another one':
      'FROM mcr.microsoft.com/windows/servercore:ltsc2022\nCMD powershell -File c:\\app\\run.ps1\n',
    'a stage that is named in other letters': ['FROM debian:12 AS Base\nCMD server\nFROM base\n', /^error /],
    ...each(['a /b/*.jar', 'a b?', 'a [bc]', 'a ~/b', 'a # b', 'a {b,c}', '! a', 'a "$B"', 'a "`b`"'], (script) => [
      `${script}, which only a shell understands`,
      [`FROM debian:12\nENTRYPOINT ${script}\n`, /^error /, false],
    ]),
    'such characters in quotes': ["FROM debian:12\nCMD a 'b*' \\~\n", /^error /, 'CMD ["a", "b*", "~"]'],
    'an entrypoint without a command': ['FROM debian:12\nENTRYPOINT run it\n', /^error /, 'ENTRYPOINT ["run", "it"]'],
    'an entrypoint that ignores the command behind it': [
      'FROM debian:12\nENTRYPOINT run it\nCMD ["--help"]\n',
      /^error /,
      false,
    ],
    'an entrypoint that ignores the command of the stage below': [
      'FROM debian:12 AS base\nCMD ["--help"]\nFROM base\nENTRYPOINT run it\n',
      /^error /,
      false,
    ],
  },
  SX602: {
    'an ONBUILD, which is for the images that are made from this one':
      'FROM debian:12\nONBUILD CMD ["sh", "-c", "a && b"]\nCMD ["a"]\n',
    'an instruction in a here-document':
      'FROM debian:12\nRUN <<A cat && <<B cat\nCMD ["sh", "-c", "a && b"]\nA\nENTRYPOINT x\nB\nENTRYPOINT ["a"]\n',
    'busybox, which becomes the program': 'FROM alpine:3.20\nCMD ["sh", "-c", "a && b"]\n',
    'dash in an image of another shell': ['FROM fedora:40\nCMD ["dash", "-c", "a && b"]\n', /^error .*dash -c stays/],
    'a loop in bash': [
      'FROM fedora:40\nCMD ["bash", "-c", "while true; do work; done"]\n',
      /^warning .*bash -c stays/,
      false,
    ],
    'a last command of the shell itself': ['FROM debian:12\nCMD ["sh", "-c", "a && cd /"]\n', /^error /, false],
    'such a command, whose word is that of a value that is not there': [
      'FROM debian:12\nCMD ["sh", "-c", "a && cd undefined"]\n',
      /^error /,
      false,
    ],
    'redirections and a semicolon in quotes, and writes before the command that they belong to': [
      `FROM debian:12\nCMD ["sh", "-c", "a && serve 'b; c' > /log 2>&1"]\n`,
      /^error /,
      `"a && exec serve 'b; c' > /log 2>&1"`,
    ],
    'a list in parentheses, which has no last command to write before': [
      'FROM debian:12\nCMD ["sh", "-c", "(a; b)"]\n',
      /^error /,
      false,
    ],
    'a list whose text has escapes': [
      'FROM debian:12\nCMD ["sh", "-c", "a \\u0026\\u0026 ser\\u0076er"]\n',
      /^error /,
      false,
    ],
    'an entrypoint in the shell form, which SX601 reports':
      'FROM debian:12\nENTRYPOINT run it\nCMD ["sh", "-c", "a && b"]\n',
    'a script with a word behind it that looks like its end': [
      'FROM debian:12\nCMD ["sh", "-c", "--", "run", "run"]\n',
      /^error /,
      '["sh", "-c", "--", "exec run", "run"]',
    ],
    'a list on several lines': [
      'FROM debian:12\nCMD ["bash", "-c", \\\n  "a | b; c | d"]\n',
      /^warning .*bash -c stays/,
      false,
    ],
    'an entrypoint that starts what it is given': [
      'FROM debian:12\nENTRYPOINT ["docker-entrypoint.sh"]\nCMD ["sh", "-ec", "a; b"]\n',
      /^error /,
      '"a; exec b"',
    ],
    'the entrypoint before the command': [
      'FROM debian:12\nENTRYPOINT ["sh", "-c"]\nCMD ["a && b"]\n',
      /^error .*/,
      'CMD ["a && exec b"]',
    ],
  },
  SX603: {
    'the program of an official image that nothing else is started in': [
      'FROM nginx:1.29\nSTOPSIGNAL SIGTERM\n',
      /^warning @- \[SIGTERM\] nginx ends gracefully on SIGQUIT/,
      'STOPSIGNAL SIGQUIT\n',
    ],
    'an official image in which a script is started': 'FROM nginx:1.29\nSTOPSIGNAL SIGTERM\nCMD ["/start.sh"]\n',
    'an official image in which a shell starts something': 'FROM nginx:1.29\nSTOPSIGNAL SIGTERM\nCMD node server.js\n',
    'postgres, whose two signals are both meant': 'FROM debian:12\nSTOPSIGNAL SIGINT\nCMD ["postgres"]\n',
  },
  SX604: {
    'a base image whose signal is not known': 'FROM example.com/a:1\nCMD ["node", "server.js"]\n',
    'a base image without a signal': 'FROM debian:12\nCMD ["node", "server.js"]\n',
    'a command in the shell form, which is not known': 'FROM nginx:1.29\nCMD server\n',
    'a script, which may start anything': 'FROM nginx:1.29\nCMD ["/start.sh"]\n',
    'a shell, which may start anything': 'FROM nginx:1.29\nCMD ["bash", "-x", "/start"]\n',
    'a program that ends like a shell': ['FROM nginx:1.29\nCMD ["shfmt"]\n', /^warning .* shfmt inherits/],
    'a program that begins like a shell': ['FROM nginx:1.29\nCMD ["fish"]\n', /^warning .* fish inherits/],
    'a script by another name': ['FROM nginx:1.29\nCMD ["start.shx"]\n', /^warning .* start.shx inherits/],
    'the server that the signal is meant for': 'FROM nginx:1.29\nCMD ["nginx"]\n',
  },
  SX605: {
    'a script of another language': 'FROM debian:12\nCOPY script.py /entrypoint\nENTRYPOINT ["/entrypoint"]\n',
    'a script that tells of another one further down':
      'FROM debian:12\nCOPY writes-script.py /entrypoint\nENTRYPOINT ["/entrypoint"]\n',
    'exec behind a number sign that begins no comment':
      'FROM debian:12\nCOPY number-sign.sh /entrypoint\nENTRYPOINT ["/entrypoint"]\n',
    'exec in a comment that is indented': [
      'FROM debian:12\nCOPY commented.sh /entrypoint\nENTRYPOINT ["/entrypoint"]\n',
      /^warning .*commented.sh never runs exec/,
    ],
  },
  SX606: {
    'a signal that comes from a variable': 'FROM debian:12\nARG S\nSTOPSIGNAL $S\nCMD ["a"]\n',
    KILL: ['FROM debian:12\nSTOPSIGNAL 9\nCMD ["a"]\n', /^error .*STOPSIGNAL 9 ends the program at once/],
    STOP: ['FROM debian:12\nSTOPSIGNAL STOP\nCMD ["a"]\n', /^error .*STOP freezes the program/],
    'what is no signal': ['FROM debian:12\nSTOPSIGNAL SIGNONE\nCMD ["a"]\n', /^error .*SIGNONE is no signal/],
  },
  SX607: {
    'npm in the exec form': [
      'FROM node:22\nCMD ["npm", "start"]\n',
      /^info @- \[CMD \["npm", "start"\]\] npm is PID 1 and starts the program by a shell$/,
    ],
    'npx, in front of sexton, too': [
      'FROM node:22\nCMD ["npx", "sexton", "run", "--drain", "5s", "--", "node", "server.js"]\n',
      /^info .*\] npx is PID 1 and starts the program by a shell$/,
    ],
    'yarn in a shell that becomes it': ['FROM node:22-alpine\nCMD yarn start\n', /^info .*yarn is PID 1/],
    'npm in the shell of Windows': 'FROM node:22-windowsservercore\nCMD npm start\n',
    'npm behind a shell, which SX601 reports': 'FROM node:22\nCMD npm start\n',
    'npm behind an init': 'FROM node:22\nENTRYPOINT ["tini", "--", "npm", "start"]\n',
    'npm behind an init of the image below': [
      'FROM example.com/node:1\nCMD ["npm", "start"]\n',
      { images: { 'example.com/node:1': { entrypoint: ['tini', '--'] } } },
    ],
    'a shell that becomes npm behind an init of the image below': [
      'FROM example.com/node:1\nCMD npm start\n',
      { images: { 'example.com/node:1': { entrypoint: ['tini', '--'], shell: 'busybox' } } },
    ],
    'a list that ends in npm': 'FROM node:22-alpine\nCMD a && npm start\n',
    'a stage without a command': 'FROM node:22\nRUN npm ci\n',
  },
};
