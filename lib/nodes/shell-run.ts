import { z } from 'zod'
import { dottedPath, oneOf, strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'

// What Linux takes: 128 KiB for one argument, and 2 MiB for all of them with the environment.
const maxArgBytes = 131_071
const maxAllArgsBytes = 1_048_576
const maxArgs = 4_096

/** A command by its place: no look-up in any search path, no shell. */
export const absoluteCommand = z
  .string()
  .max(4_096, 'A command has at most 4,096 characters.')
  .refine((text) => text.startsWith('/') && !text.includes('\0'), {
    error: 'An absolute path was expected, such as /usr/bin/git; commands are not looked up.',
  })

/** Arguments as they are handed over, one text each. */
export const commandArgs = z
  .array(z.string('Each argument must be a text.'), 'A list of texts was expected, one for each argument.')
  .max(maxArgs, `A command has at most ${maxArgs} arguments.`)
  .superRefine((args, context) => {
    const bytes = args.map((arg) => new TextEncoder().encode(arg).byteLength)
    for (const [at, arg] of args.entries()) {
      if (arg.includes('\0')) {
        context.addIssue({ code: 'custom', path: [at], message: 'An argument holds no NUL character.' })
      } else if ((bytes[at] ?? 0) > maxArgBytes) {
        context.addIssue({ code: 'custom', path: [at], message: 'An argument has at most 128 KiB.' })
      }
    }
    if (bytes.reduce((sum, one) => sum + one, 0) > maxAllArgsBytes) {
      context.addIssue({ code: 'custom', message: 'All arguments together have at most 1 MiB.' })
    }
  })

// Less than the kind's own time limit below, so that a command's limit always comes first.
const maxTimeoutSecs = 86_400

export const commandTimeout = z
  .int('Whole seconds were expected.')
  .min(0, 'Whole seconds were expected, not less than none.')
  .max(maxTimeoutSecs, 'A command runs at most one day, 86,400 seconds.')

/** The command that takes another one back; its arguments are templates over `{{request…}}` and `{{response…}}`. */
export const commandCompensation = strictConfig({
  command: absoluteCommand,
  args: commandArgs.optional(),
  timeout_secs: commandTimeout.optional(),
})

export type CommandCompensation = z.infer<typeof commandCompensation>

export const shellRunConfig = strictConfig({
  command: absoluteCommand.optional(),
  command_from: dottedPath.optional(),
  args: commandArgs.optional(),
  args_from: dottedPath.optional(),
  timeout_secs: commandTimeout.optional(),
  compensate: commandCompensation.optional(),
})
  .superRefine(oneOf('command', 'command_from'))
  .superRefine(oneOf('args', 'args_from', 'at_most_one'))

export type ShellRunConfig = z.infer<typeof shellRunConfig>

/** Seconds a command may run when its node does not say. */
export const defaultCommandTimeoutS = 30

export const shellRun: NodeKind<ShellRunConfig> = {
  kind: 'shell_run',
  title: 'Run a command',
  summary:
    'Runs one program with fixed arguments and an empty environment, without a shell, and ends all it started.',
  family: 'action',
  config: shellRunConfig,
  fields: {
    command: { label: 'Command', help: 'The program by its absolute path.', example: '/usr/bin/git' },
    command_from: {
      label: 'Command from',
      help: 'Where the program’s path stands among the run’s values.',
      internal: true,
    },
    args: { label: 'Arguments', help: 'Handed over as they are, one text each.', example: ['log', '-1'] },
    args_from: {
      label: 'Arguments from',
      help: 'Where a list of texts stands among the run’s values, instead of fixed arguments.',
      example: 'trigger.git_args',
    },
    timeout_secs: {
      label: 'Timeout',
      help: 'Seconds until the command and all it started are ended; without it, 30.',
      example: 60,
    },
    compensate: {
      label: 'To take it back',
      help: 'The command that undoes this one; its arguments may use {{request.args.0}} and {{response.stdout}}.',
      example: { command: '/usr/bin/git', args: ['revert', '--no-edit', 'HEAD'] },
    },
  },
  labels: () => ['error'],
  consequence: (config) => (config.compensate ? 'reversible' : 'irreversible'),
  // The command's own limit ends it; this one only has to come later.
  timeoutS: maxTimeoutSecs + 60,
  checkpoint: {
    holds: 'The command’s digest and the command that takes it back.',
    undo: 'Runs the declared compensating command.',
  },
}
