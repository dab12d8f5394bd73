import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { commandLine } from './command-line'

function named(command: Command, above: string): [string, Command][] {
  const name = `${above} ${command.name()}`
  const others = command.aliases().map((alias): [string, Command] => [`${above} ${alias}`, command])
  return [[name, command], ...others, ...command.commands.flatMap((inner) => named(inner, name))]
}

function helpOf(command: Command): string {
  let help = ''
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp()
  return help
}

describe('every command', () => {
  const commands = commandLine(() => undefined).commands.flatMap((command) => named(command, 'holdpoint'))
  const page = readFileSync(new URL('../../docs/commands.md', import.meta.url), 'utf8')
  const told = new Set(
    [...page.matchAll(/`(holdpoint [a-z-]+(?: [a-z][a-z-]*)?)(?=[ `])/g)].map(([, command]) => command),
  )

  const isSaid = ([, command]: [string, Command]) =>
    command.commands.length === 0 || command.aliases().length > 0
  it.each(commands.filter(isSaid))('is on the page: %s', (name) => {
    expect([...told]).toContain(name)
  })

  it('that is on the page is one', () => {
    const known = commands.map(([name]) => name)
    for (const name of told) expect(known).toContain(name)
  })

  it('takes the options that the page shows', () => {
    const byLength = [...commands].sort(([a], [b]) => b.length - a.length)
    for (const [, line = ''] of page.matchAll(/`(holdpoint [^`]+)`/g)) {
      const command = byLength.find(([name]) => `${line} `.startsWith(`${name} `))?.[1]
      const options = line.match(/(?<=\s)--?[a-z][a-z-]*/g) ?? []
      const known = command?.options.flatMap(({ long, short }) => [long, short]) ?? []
      for (const option of options) expect(known, line).toContain(option)
    }
  })

  it.each(commands)('says its exit codes: %s', (name, command) => {
    const waits = ['holdpoint run', 'holdpoint fork', 'holdpoint rollback'].includes(name)
    expect(helpOf(command)).toContain('Exit codes: 0 done, 2 usage, 5 failed or refused')
    expect(helpOf(command).includes('7 the run waits')).toBe(waits)
  })
})
