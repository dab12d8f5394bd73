/*
 * One command as a step. The program is named by its absolute path and looked at where it really lies, symlinks
 * resolved, before the policy is asked; what is decided on and what is run is that place. Nothing of Holdpoint's own
 * environment reaches it.
 *
 * A command may change anything, so it cannot be undone, unless its author declares a command that takes it back. Its
 * arguments may use what was recorded: `{{request.args.0}}`, `{{response.stdout}}`. The first command wrote that output,
 * so it fills in values only: one argument stays one argument, and none becomes an option.
 */
import { access, constants, realpath, stat } from 'node:fs/promises'
import { z } from 'zod'
import { hashJson } from '@/lib/base/hash'
import type { Json, JsonObject } from '@/lib/base/json'
import { isProblem } from '@/lib/base/problem'
import { narrowed } from '@/lib/nodes/node-kind'
import {
  absoluteCommand,
  type CommandCompensation,
  commandArgs,
  commandCompensation,
  commandTimeout,
  defaultCommandTimeoutS,
  shellRunConfig,
} from '@/lib/nodes/shell-run'
import { renderTemplate } from '@/lib/nodes/template'
import { type ChildEnd, runChild } from './child-process'
import { notDone } from './dry-run'
import { errnoOf } from './fs-failure'
import { actionOf, configOf, definedOnly, givenText, refusal } from './resolved'
import { EffectFailed, type Effects, type Preview, type Runner, type Step } from './runner'
import { oneLine, previewText } from './words'

const shellDo = z.strictObject({
  command: absoluteCommand,
  args: commandArgs,
  timeout_secs: commandTimeout,
  compensate: commandCompensation.optional(),
})

type ShellDo = z.infer<typeof shellDo>

const sealedCommand = z.strictObject({ request: z.string(), compensate: commandCompensation.optional() })

export const shellRunRunner: Runner = {
  async resolve(step) {
    const config = configOf(shellRunConfig, step.node)
    return definedOnly({
      command: await givenText(step, 'command', config.command, config.command_from),
      args: config.args ?? (await argsFrom(step, config.args_from)),
      timeout_secs: config.timeout_secs ?? defaultCommandTimeoutS,
      compensate: config.compensate as Json | undefined,
    })
  },

  async describe(action, step, effects) {
    const wanted = actionOf(shellDo, action, step.node.id)
    const command = await allowedCommand(wanted.command, wanted.args, effects)
    const compensate = wanted.compensate && {
      ...wanted.compensate,
      // Before anything is done that it should undo. Its arguments are asked about when they are known.
      command: await allowedCommand(wanted.compensate.command, wanted.compensate.args ?? [], effects),
    }
    const consequence = narrowed(compensate ? 'reversible' : 'irreversible', step.node)
    return {
      action: {
        kind: 'shell_run',
        node: step.node.id,
        visit: step.visit,
        do: definedOnly({ ...wanted, command, compensate: compensate as Json | undefined }),
        consequence,
        target: oneLine(command, 200),
        sentence: oneLine(`Run ${spoken(command, wanted.args)}`),
        ...(consequence === 'reversible' && compensate
          ? {
              undo: 'compensate' as const,
              undoSentence: oneLine(`Run ${spoken(compensate.command, compensate.args ?? [])}`),
            }
          : {}),
      },
      preview: previewOf({ ...wanted, command }),
    }
  },

  async snapshot(action) {
    const wanted = actionOf(shellDo, action.do, action.node)
    const state = definedOnly({
      request: hashJson(action.do),
      compensate: wanted.compensate as Json | undefined,
    })
    return { state, hash: hashJson(state), undo: 'compensate' }
  },

  async perform(action, effects) {
    const wanted = actionOf(shellDo, action.do, action.node)
    const command = await allowedCommand(wanted.command, wanted.args, effects)
    if (effects.dryRun) return notDone({ command, args: wanted.args })
    const end = await run({ ...wanted, command }, effects.idempotencyKey, effects)
    const output = {
      command,
      args: wanted.args,
      exit_code: end.exitCode,
      signal: end.signal,
      stdout: end.stdout,
      stderr: end.stderr,
      truncated: end.truncated,
      timed_out: end.timedOut,
      duration_ms: end.durationMs,
      // Beyond the reference, and only there when it has to be said.
      ...(end.leftRunning > 0 ? { left_running: end.leftRunning } : {}),
    }
    return succeeded(end) ? { output } : { output, label: 'error' }
  },

  async undo(action, snapshot, effects, rollback) {
    const sealed = sealedCommand.safeParse(snapshot.state)
    if (!sealed.success || sealed.data.request !== hashJson(action.do)) {
      throw refusal('checkpoint_tampered', 'The checkpoint does not belong to this command; nothing was run.')
    }
    if (!sealed.data.compensate) {
      throw refusal(
        'nothing_declared',
        `No command is declared that takes ${action.target} back; take it back by hand.`,
      )
    }
    const wanted = filled(sealed.data.compensate, action.do, rollback.output)
    const command = await allowedCommand(wanted.command, wanted.args, effects)
    const end = await run({ ...wanted, command }, `${rollback.checkpointId}-undo`, effects)
    if (!succeeded(end)) throw compensationFailed(command, end)
    return { description: oneLine(`Ran ${spoken(command, wanted.args)}, which ended well`) }
  },
}

/** Arguments of the run's values. Nothing there means none, as a run may begin without them. */
async function argsFrom(step: Step, from: string | undefined): Promise<string[]> {
  const value = from === undefined ? null : ((await step.values.at(from)) ?? null)
  if (value === null) return []
  const parsed = commandArgs.safeParse(value)
  if (parsed.success) return parsed.data
  throw refusal(
    'value_wrong',
    `Node ${step.node.id} takes its arguments from "${from}", which holds something else than a list of texts: ${parsed.error.issues[0]?.message ?? 'a list of texts was expected.'}`,
  )
}

/** The command where it really lies, once the policy allows it. */
async function allowedCommand(written: string, args: readonly string[], effects: Effects): Promise<string> {
  const command = await realCommand(written)
  await effects.allow({ tool: 'shell.run', command, args })
  return command
}

async function realCommand(written: string): Promise<string> {
  try {
    const command = await realpath(written)
    if (!(await stat(command)).isFile()) throw notRunnable(written, 'it is no file')
    await access(command, constants.X_OK)
    return command
  } catch (error) {
    if (error instanceof EffectFailed) throw error
    throw startFailure(written, error)
  }
}

const startFaults: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist, or what it needs to start does not',
  ENOTDIR: 'it does not exist',
  EACCES: 'the account Holdpoint runs as may not run it',
  EPERM: 'the account Holdpoint runs as may not run it',
  ELOOP: 'its symlinks lead in a circle',
  ENOEXEC: 'it is no program this machine can run',
  E2BIG: 'its arguments are too long for this machine',
}

function startFailure(command: string, error: unknown): EffectFailed {
  const errno = errnoOf(error) ?? 'an unknown error'
  const passing = errno === 'EAGAIN' || errno === 'ENOMEM' || errno === 'EMFILE' || errno === 'ENFILE'
  if (passing) {
    return new EffectFailed(
      'too_busy',
      `The command ${oneLine(command, 200)} could not be started: ${errno}.`,
      {
        errorType: 'resource_exhausted',
        retriable: true,
      },
    )
  }
  return notRunnable(command, startFaults[errno] ?? errno)
}

function notRunnable(command: string, why: string): EffectFailed {
  return refusal('command_not_runnable', `The command ${oneLine(command, 200)} cannot be run: ${why}.`)
}

type Runnable = Pick<ShellDo, 'command' | 'args' | 'timeout_secs'>

async function run(wanted: Runnable, key: string, effects: Effects): Promise<ChildEnd> {
  if (effects.signal.aborted) throw givenUp(wanted.command, 'it was not started', false)
  const end = await runChild({
    command: wanted.command,
    args: wanted.args,
    cwd: effects.installationRoots[0] ?? '/',
    timeoutMs: Math.max(1, wanted.timeout_secs) * 1_000,
    limits: effects.childLimits ?? {},
    key,
    signal: effects.signal,
    now: effects.now,
  }).catch((error: unknown) => {
    throw startFailure(wanted.command, error)
  })
  if (end.givenUp) throw givenUp(wanted.command, 'what it did until then is not known', true)
  return end
}

function givenUp(command: string, fate: string, outcomeUnknown: boolean): EffectFailed {
  return new EffectFailed(
    'effect_timeout',
    `The command ${oneLine(command, 200)} was ended before it was done; ${fate}.`,
    { errorType: 'timeout', outcomeUnknown, retriable: !outcomeUnknown },
  )
}

function succeeded(end: ChildEnd): boolean {
  return end.exitCode === 0 && end.signal === null && !end.timedOut
}

/** The compensating command with its arguments filled. */
function filled(declared: CommandCompensation, request: JsonObject, output: Json | undefined): Runnable {
  const root: JsonObject = { request, ...(output === undefined ? {} : { response: output }) }
  const missing = new Set<string>()
  const args = (declared.args ?? []).map((template) => {
    const rendered = renderedArg(template, root)
    for (const key of rendered.missing) missing.add(key)
    return rendered.text
  })
  if (missing.size > 0) {
    throw refusal(
      'value_missing',
      `The compensating command needs ${[...missing].map((key) => `"${oneLine(key, 100)}"`).join(', ')}, and ${output === undefined ? 'the end of the command was never recorded' : 'what was recorded has no such value'}; take it back by hand.`,
    )
  }
  const fits = commandArgs.safeParse(args)
  if (!fits.success) {
    throw refusal(
      'value_wrong',
      'The arguments of the compensating command are too long, or hold a NUL character, with the recorded values in them; take it back by hand.',
    )
  }
  return { command: declared.command, args, timeout_secs: declared.timeout_secs ?? defaultCommandTimeoutS }
}

function renderedArg(template: string, root: JsonObject) {
  try {
    const rendered = renderTemplate(template, root)
    if (rendered.text.startsWith('-') && !template.startsWith('-')) {
      throw refusal(
        'value_wrong',
        'A recorded value would become an option of the compensating command; take it back by hand.',
      )
    }
    return rendered
  } catch (error) {
    if (!isProblem(error, 'too_large')) throw error
    throw refusal(
      'too_large',
      'The compensating command grows past 1 MiB with the recorded values in it; take it back by hand.',
    )
  }
}

function compensationFailed(command: string, end: ChildEnd): EffectFailed {
  const how = end.timedOut
    ? 'was not done in time'
    : end.signal === null
      ? `ended with exit code ${end.exitCode}`
      : `was ended by signal ${end.signal}`
  return new EffectFailed(
    'compensation_failed',
    `The compensating command ${oneLine(command, 200)} ${how}; look at what it left and try again.`,
  )
}

/** A command line as people read one; quotes only tell where an argument begins and ends. */
function spoken(command: string, args: readonly string[]): string {
  return [command, ...args]
    .map((part) => (/^[\w@%+=:,./-]+$/.test(part) ? part : JSON.stringify(part)))
    .join(' ')
}

function previewOf(wanted: ShellDo): Preview {
  const lines = [wanted.command, ...wanted.args.map((arg) => `  ${JSON.stringify(arg)}`)]
  const limit = `Ended after ${Math.max(1, wanted.timeout_secs)} s, with all it started.`
  return { show: 'text', title: 'Command', text: previewText([...lines, '', limit].join('\n')) }
}
