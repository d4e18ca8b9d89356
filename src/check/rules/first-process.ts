/**
 * SX201, SX206: what stands as PID 1 in front of the program, and keeps the stop signal from it.
 */
import { shellOf } from '../stop/images.ts';
import { secondsText } from '../stop/interval.ts';
import { wordAt } from '../stop/plan.ts';
import { shellCommandOf } from '../stop/shell.ts';
import { packageManagerOf } from '../stop/started.ts';
import { execBefore, isJob, nameOf, placeOf, shellSeverity } from './common.ts';
import { deployment } from './examples.ts';
import type { Found, Rule } from './rule.ts';

export const FIRST_PROCESS_RULES: readonly Rule[] = [
  {
    id: 'SX201',
    severity: 'warning',
    title: 'PID 1 is a shell that does not pass the stop signal on',
    why: 'As PID 1 a shell without a trap ignores TERM, so the command behind it runs on until KILL. dash never becomes its last command; busybox does, bash in most forms.',
    remedy: 'Write exec before the last command of the script, or start the program without a shell.',
    language: 'yaml',
    bad: deployment(`- name: web\n  image: debian:12\n  command: [sh, -c, "prepare && server --port 80"]`),
    good: deployment(`- name: web\n  image: debian:12\n  command: [sh, -c, "prepare && exec server --port 80"]`),
    isFixable: true,
    on: 'workload',
    find: ({ workload, view, images }) =>
      view.containers.flatMap(({ container, argv, shell }): Found[] => {
        const script = argv && shellCommandOf(argv);
        if (shell?.mayStay !== true || script === undefined) return [];
        const node = wordAt(container, script.index);
        const killMs = view.timeline.containers.find(({ name }) => name === container.name)?.killAt.minMs ?? 0;
        const severity = isJob(workload) ? 'info' : shellSeverity(script, shell, shellOf(container.image, images));
        const what = shell.stays
          ? 'stays PID 1 and ignores TERM'
          : 'may stay PID 1 and ignore TERM, which depends on the shell';
        return [
          {
            place: placeOf(workload.pod, node ?? container.node),
            message: `${nameOf(container)}: ${script.shell} -c ${what}: its command is ended by KILL after ${secondsText(killMs)}`,
            severity,
            container: container.name,
            atMs: killMs,
            edits: execBefore(workload.pod.source, node, script.script),
          },
        ];
      }),
  },
  {
    id: 'SX206',
    severity: 'info',
    title: 'A package manager is PID 1',
    why: 'npm, yarn and pnpm start the script by a shell and stay in front of it. Which signals reach the program depends on their versions.',
    remedy: 'Start the program itself: node server.js in place of npm start.',
    language: 'yaml',
    bad: deployment('- {name: web, image: "example.com/web:1", command: [npm, start]}'),
    good: deployment('- {name: web, image: "example.com/web:1", command: [node, server.js]}'),
    on: 'workload',
    find: ({ workload, view }) =>
      view.containers.flatMap(({ container, argv = [] }): Found[] => {
        const program = packageManagerOf(argv);
        if (program === undefined) return [];
        return [
          {
            place: placeOf(workload.pod, wordAt(container, 0) ?? container.node),
            message: `${nameOf(container)}: ${program} is PID 1 and starts the program by a shell`,
            container: container.name,
          },
        ];
      }),
  },
];
