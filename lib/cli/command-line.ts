/*
 * Every command's words and options, and nothing of what it does: each command is a file that is loaded when it is asked
 * for, so that `--help` costs nothing but this. docs/commands.md has them for people.
 */
import { Command, Option } from 'commander'
import { version } from '@/lib/base/version'
import { DEFAULT_ROLLBACK_S, MAX_ROLLBACK_S } from '@/lib/rollback/deadline'
import { inputValue, wholeNumber } from './parse-options'

const exitCodesHelp = '\nExit codes: 0 done, 2 usage, 5 failed or refused'
/** Of a command that comes back with a run that waits for somebody. */
const waitCodeHelp = ', 7 the run waits'
const dataHelp = 'data folder (default: HOLDPOINT_DATA, or ./data)'

/** Every command with its options; `finish` is given the exit code. */
export function commandLine(finish: (code: number) => void): Command {
  const program = new Command('holdpoint')
    .description('Runs agent workflows with signed steps, held decisions, and one click that takes it back.')
    .version(version)
    .showHelpAfterError('(holdpoint --help lists what there is)')
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'holdpoint: ')) })
    .exitOverride()
    .addHelpText('after', `${exitCodesHelp}${waitCodeHelp}.`)
  addServing(program, finish)
  addRuns(program, finish)
  addEvidence(program, finish)
  addChecks(program, finish)
  for (const command of program.commands) tellExitCodes(command)
  return program
}

function tellExitCodes(command: Command): void {
  const waits = ['run', 'fork', 'rollback'].includes(command.name())
  command.addHelpText('after', `${exitCodesHelp}${waits ? waitCodeHelp : ''}.`)
  for (const inner of command.commands) tellExitCodes(inner)
}

type Finish = (code: number) => void

function addServing(program: Command, finish: Finish): void {
  program
    .command('serve')
    .description('start the console with its engine')
    .option('--port <number>', 'port (default: PORT, or 3000)', wholeNumber('--port', 1, 65_535))
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--origin <url>', 'the address people use, when a proxy stands in front')
    .option('--data <folder>', dataHelp)
    .option('--lab', 'bring the example agents and runs along')
    .option('--dev', 'build pages when they are asked for, for working on Holdpoint itself')
    .action(async (options) => finish(await (await import('./serve')).serve(options)))
  program
    .command('worker')
    .description('work on runs of a data folder without a console')
    .option('--data <folder>', dataHelp)
    .action(async (options) => finish(await (await import('./worker-command')).workerCommand(options)))
}

function addRuns(program: Command, finish: Finish): void {
  program
    .command('run')
    .description('run a workflow once, to its end or until it waits; the outcome goes to standard output')
    .argument('[file]', 'the workflow; may be left out with --resume')
    .option('--input <json>', 'the input: JSON, or a file with it', inputValue)
    .option('--start <name>', 'the start to enter by, where a workflow has several')
    .option(
      '--dry-run',
      'walk the steps and touch nothing outside: no request is made, not even a GET; steps that read an answer get a stand-in',
    )
    .option(
      '--timeout-secs <seconds>',
      'give up after this long',
      wholeNumber('--timeout-secs', 1, 31_536_000),
    )
    .option('--data <folder>', dataHelp)
    .option(
      '--resume <run>',
      'go on with a run that waits; at an agentd pause, this is the approval, in your name',
    )
    .option('--intel-unix <socket>', 'a model backend called default, over a Unix socket (agentd)')
    .option('--intel-http <url>', 'a model backend called default, over HTTP (agentd)')
    .option('--mcp-stdio <command>', 'an MCP server called default: a program and its arguments')
    .option('--approve-plan <hash>', 'run the file only if it is exactly the plan with this hash')
    .option('--json', 'the outcome as one line of JSON')
    .action(async (file, options) => finish(await (await import('./run-command')).runCommand(file, options)))
  addFork(program, finish)
  program
    .command('flag')
    .description(
      'say that what a finished step gave is wrong; it counts as failed, and nothing is taken back yet',
    )
    .argument('<run>', 'the run, run_…')
    .argument('<node>', 'the step, by its id')
    .requiredOption('--reason <text>', 'what is wrong with it, kept in the ledger')
    .option('--visit <number>', 'which visit, if not its latest', wholeNumber('--visit', 1, 1_000_000))
    .option('--data <folder>', dataHelp)
    .option('--json', 'the finding and the steps made from it as one line of JSON')
    .action(async (run, node, options) =>
      finish(await (await import('./flag-command')).flagCommand(run, node, options)),
    )
  program
    .command('rollback')
    .description(
      'take back what a step did, and what followed from it: shows the plan, executes it with --yes and follows it; ' +
        'a server or a worker on the data folder does it',
    )
    .argument('<run>', 'the run, run_…')
    .requiredOption('--node <node>', 'the step to put the run back to before, by its id')
    .addOption(
      new Option('--scope <scope>', 'how far it reaches (default: the smallest that serves)').choices([
        'single',
        'sub-dag',
        'full',
      ]),
    )
    .option('--reason <text>', 'why, kept in the ledger')
    .option(
      '--deadline <seconds>',
      'how long it may take; what is not back by then is handed to a person',
      wholeNumber('--deadline', 1, MAX_ROLLBACK_S),
      DEFAULT_ROLLBACK_S,
    )
    .option('--plan', 'only show the plan; do nothing')
    .option('--yes', 'execute the plan; without it nothing is done')
    .option('--digest <hash>', 'execute only the plan with this digest, as it was shown before')
    .option('--data <folder>', dataHelp)
    .option('--json', 'the plan, or what became of the rollback, as one line of JSON')
    .action(async (run, options) =>
      finish(await (await import('./rollback-command')).rollbackCommand(run, options)),
    )
  program
    .command('plan')
    .description('let a model plan an agentd workflow for a goal; it is checked and shown, and never run')
    .argument('<goal>', 'what is to be achieved, in words')
    .option('--plan-out <file>', 'write the plan there; the file must not exist yet')
    .option('--backend <name>', 'the model that plans (default: default, else the first there is)')
    .option('--config <file>', 'an agentd file whose policy, backends, secrets and budget the plan gets')
    .option('--data <folder>', dataHelp)
    .option('--json', 'the plan with its steps and its hash as one line of JSON')
    .action(async (goal, options) =>
      finish(await (await import('./plan-command')).planCommand(goal, options)),
    )
}

function addFork(program: Command, finish: Finish): void {
  program
    .command('fork')
    .description('begin a new run from a moment of another, as a dry run; the original stays as it is')
    .argument('<run>', 'the run to fork, run_…')
    .requiredOption(
      '--at <token>',
      'the number of the token to fork at; what is done there is taken as done',
      wholeNumber('--at', 1, 10_000_000),
    )
    .option(
      '--artifact <name=value...>',
      'another value for an artifact: a text or JSON, or @file (one or more)',
    )
    .option('--input <json>', 'another input: JSON, or a file with it', inputValue)
    .option('--to-version <hash>', 'go on with a newer version of the workflow')
    .option('--for-real', 'do what follows for real: what the original did may happen again')
    .option('--reason <text>', 'why, kept in the ledger')
    .option('--plan', 'only say what would be taken over and what would happen again; begin nothing')
    .option(
      '--timeout-secs <seconds>',
      'give up after this long',
      wholeNumber('--timeout-secs', 1, 31_536_000),
    )
    .option('--data <folder>', dataHelp)
    .option('--intel-unix <socket>', 'a model backend called default, over a Unix socket (agentd)')
    .option('--intel-http <url>', 'a model backend called default, over HTTP (agentd)')
    .option('--mcp-stdio <command>', 'an MCP server called default: a program and its arguments')
    .option('--json', 'the outcome, or the plan, as one line of JSON')
    .action(async (run, options) => finish(await (await import('./fork-command')).forkCommand(run, options)))
}

function addEvidence(program: Command, finish: Finish): void {
  program
    .command('export')
    .description('write a run, the runs below it and all their evidence into one file that anyone can verify')
    .argument('<run>', 'the run, run_…')
    .requiredOption('-o, --output <bundle>', 'the file to write; it must not exist yet')
    .option('--with-forks', 'the ledgers of the runs it was forked from too')
    .option(
      '--max-value-bytes <bytes>',
      'leave out values of more bytes, and list them',
      wholeNumber('--max-value-bytes', 0, 999_999_999),
    )
    .option('--data <folder>', dataHelp)
    .action(async (run, options) =>
      finish(await (await import('./export-command')).exportCommand(run, options)),
    )
  program
    .command('verify')
    .description('check an exported bundle, offline; names every token or entry that does not hold')
    .argument('<bundle>', 'the exported file')
    .option('--keys <file>', 'keys you trust, as a JWK set; without it the keys in the bundle are used')
    .option('--json', 'the verdict as one line of JSON')
    .action(async (bundle, options) =>
      finish(await (await import('./verify-command')).verifyCommand(bundle, options)),
    )
  program
    .command('open')
    .description('show an exported bundle in a console of its own, read-only; it is verified first')
    .argument('<bundle>', 'the exported file')
    .option('--port <number>', 'port (default: a free one)', wholeNumber('--port', 1, 65_535))
    .option('--keys <file>', 'keys you trust, as a JWK set; without it the keys in the bundle are used')
    .option('--anyway', 'show it although it does not verify')
    .action(async (bundle, options) =>
      finish(await (await import('./open-command')).openCommand(bundle, options)),
    )
}

function addChecks(program: Command, finish: Finish): void {
  program
    .command('rotate-key')
    .description('make a new signing key; what former keys signed goes on verifying')
    .option('--sealing', 'the key that seals checkpoints instead')
    .option('--reseal', 'seal live checkpoints anew under the current sealing key')
    .option('--data <folder>', dataHelp)
    .action(async (options) => finish(await (await import('./rotate-key-command')).rotateKeyCommand(options)))
  program
    .command('validate')
    .description('check workflow files; every finding has its place and how to mend it')
    .argument('<file...>', 'workflow files')
    .option('--json', 'findings as one line of JSON')
    .action(async (files, options) =>
      finish(await (await import('./validate-command')).validateCommand(files, options)),
    )
  program
    .command('test')
    .description('run fixtures of agentd workflows, with mocked models and tools; prints what differs')
    .argument('<folder...>', 'folders with workflow.toml and fixture.toml, or with scenarios, at any depth')
    .option('--json', 'results as one line of JSON')
    .action(async (places, options) =>
      finish(await (await import('./test-command')).testCommand(places, options)),
    )
  addPolicy(program, finish)
  addCircuits(program, finish)
  program
    .command('doctor')
    .description('check this machine and an installation’s data folder')
    .option('--data <folder>', dataHelp)
    .option('--port <number>', 'port (default: PORT, or 3000)', wholeNumber('--port', 1, 65_535))
    .option('--json', 'findings as one line of JSON')
    .action(async (options) => finish(await (await import('./doctor')).doctor(options)))
}

function addCircuits(program: Command, finish: Finish): void {
  const circuits = program
    .command('circuits')
    .alias('breakers')
    .description('breakers: who may call whom now; works beside a running server')
  circuits
    .command('list', { isDefault: true })
    .description('those with a call within the hour, not closed, or forced')
    .option('--data <folder>', dataHelp)
    .option('--json', 'the list as one line of JSON')
    .action(async (options) => finish(await (await import('./circuits-command')).listCommand(options)))
  circuits
    .command('force')
    .description('hold a breaker open or closed for a time')
    .argument('<breaker>', 'its id, or how it begins')
    .addOption(
      new Option('--to <state>', 'what it is held').choices(['open', 'closed']).makeOptionMandatory(),
    )
    .requiredOption('--reason <text>', 'why, kept in its history')
    .option('--minutes <number>', 'for how long', wholeNumber('--minutes', 1, 10_080), 60)
    .option('--data <folder>', dataHelp)
    .option('--json', 'the breaker as one line of JSON')
    .action(async (breaker, options) =>
      finish(await (await import('./circuits-command')).forceCommand(breaker, options)),
    )
  circuits
    .command('lift')
    .description('take off what was forced')
    .argument('<breaker>', 'its id, or how it begins')
    .requiredOption('--reason <text>', 'why, kept in its history')
    .option('--data <folder>', dataHelp)
    .option('--json', 'the breaker as one line of JSON')
    .action(async (breaker, options) =>
      finish(await (await import('./circuits-command')).liftCommand(breaker, options)),
    )
  circuits
    .command('probe')
    .description('ask the other side now whether it is well, after the cooldown: a good answer closes it')
    .argument('<breaker>', 'its id, or how it begins')
    .option('--data <folder>', dataHelp)
    .option('--json', 'what came of it as one line of JSON')
    .action(async (breaker, options) =>
      finish(await (await import('./circuits-command')).probeCommand(breaker, options)),
    )
}

function addPolicy(program: Command, finish: Finish): void {
  const policy = program.command('policy').description('ask what a workflow’s policy allows; nothing is run')
  policy
    .command('check')
    .description('would the workflow be allowed to? Exit 0 when it would, 5 when it is denied')
    .argument('<file>', 'the workflow')
    .requiredOption('--tool <name>', 'fs.read, fs.write, env.read, http.request, shell.run, mcp.tool, …')
    .requiredOption('--target <text>', 'a path, a name, a URL or a command, as the tool wants it')
    .option('--method <name>', 'of http.request', 'GET')
    .option('--arg <text...>', 'arguments of shell.run')
    .option('--json', 'the answer, with what each rule says, as one line of JSON')
    .action(async (file, options) =>
      finish(await (await import('./policy-command')).checkCommand(file, options)),
    )
  policy
    .command('eval')
    .description('evaluate a query against Rego modules; the result set goes to standard output')
    .option('--rego <file...>', 'the modules', [])
    .requiredOption('--query <text>', 'such as data.agent.allow, or a body with variables')
    .option('--input <file>', 'the input document, JSON')
    .option('--data <file>', 'the data document, JSON')
    .action(async (options) => finish((await import('./rego-command')).evalCommand(options)))
}
