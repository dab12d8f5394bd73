import { readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { jwksOf } from '@/lib/ect/keys'
import { gather } from '../gather'
import { hostileText, type Incident, tellIncident } from '../testing/incident'
import { escaped, html } from './markup'
import { renderReport } from './report'
import { stateMark } from './state-shapes'
import { reportTokens } from './style'
import { counted, listed, moment, short, span, thousands } from './words'

const root = path.resolve(import.meta.dirname, '../../../..')

describe('a report', () => {
  let incident: Incident
  let report: string
  beforeAll(async () => {
    incident = await tellIncident()
    const { store, ours } = incident.house
    report = await renderReport((await gather(incident.run, { store, keys: jwksOf(ours.keys) })).evidence)
  })

  it('says in one paragraph what happened', () => {
    const lead = /<p class="lead"><bdi>([\s\S]*?)<\/bdi>/.exec(report)?.[1] ?? ''
    expect(lead).toMatch(/^ada began a run of mend-tests on 2026-11-21 09:14:31 UTC\. 4 steps: 2 done, /)
    expect(lead).toContain('Its steps began 1 run of their own.')
    expect(lead).toContain('It wrote 2 artifacts 3 times: log and report.')
    expect(lead).toContain('Make the change failed: ')
    expect(lead).toContain('grace approved work: ')
    expect(lead).toContain('grace took the run back to before Make the change')
    expect(lead).toMatch(/It ended rolled back after 2 h 0 m\.$/)
  })

  it('has all its parts', () => {
    const parts = [...report.matchAll(/<section id="([\w-]+)">/g)].map((match) => match[1])
    expect(parts).toEqual([
      ...[
        'graph',
        'timeline',
        'trace',
        'decisions',
        'rollbacks',
        'errors',
        'below',
        'values',
        'left-out',
        'verify',
      ],
    ])
  })

  it('draws graph and timeline in the file itself', () => {
    expect(report).toMatch(/<svg role="img" aria-label="Graph of mend-tests"/)
    expect(report).toMatch(/<svg role="img" aria-label="Timeline of mend-tests"/)
    expect(report).toContain('>Plan the change</text>')
    expect(report).toMatch(/<rect class="bar b-waiting"/)
  })

  it('traces artifacts, and says what is missing as missing', () => {
    const row = report.split('<tr>').find((one) => one.includes('visit 2') && one.includes('◆')) ?? ''
    expect(row).toContain('2/5 pass')
    expect(row).toContain('2 entries, 1 added')
    expect(row).toMatch(/<td class="quiet">–<\/td><\/tr>/)
  })

  it('says of a decision that what it is about had changed since it was asked', () => {
    const row = report.split('<tr>').find((one) => one.includes('as edited')) ?? ''
    expect(row).toContain('after what it acts on had changed; saw the difference as it was then')
  })

  it('follows an error to its cause', () => {
    expect(report).toMatch(/caused by token 12: <bdi>Check &lt;b&gt;it&lt;\/b&gt;: step done<\/bdi>/)
  })

  it('runs nothing, loads nothing and links nowhere', () => {
    expect(report).not.toMatch(/<\s*(script|iframe|object|embed|link|form|base|img)\b/i)
    expect(report).not.toMatch(/<[^>]*\son\w+\s*=/i)
    expect(report).not.toMatch(/<[^>]*\s(src|href|action|xlink:href)\s*=/i)
    expect(report).not.toMatch(/url\(|@import|javascript:/i)
    expect(report).toContain(
      `content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"`,
    )
  })

  it('shows what agents wrote letter by letter', () => {
    expect(report).not.toContain(hostileText)
    expect(report).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(report).toContain('{{artifacts.report}} $&amp; ⟨U+202E⟩gnp.exe⟨U+202C⟩ שלום')
    expect(report).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
  })

  it('shows the beginning of bytes that are no text in hex', () => {
    expect(report).toContain('00000000  00 01 02 ff fe')
  })

  it('does not hold what was sealed', () => {
    expect(report).not.toContain('never to be seen')
    expect(report).toContain('what a checkpoint sealed: only its installation may open it')
  })
})

describe('markup', () => {
  it('keeps what templates made and escapes everything else', () => {
    const inner = html`<b>${'<i>'}</b>`
    expect(html`<p title="${'"><script>'}">${inner}${[1, undefined, false, '&']}</p>`.text).toBe(
      '<p title="&quot;&gt;&lt;script&gt;"><b>&lt;i&gt;</b>1&amp;</p>',
    )
  })

  it('is never expanded a second time', () => {
    expect(escaped("$& $1 $$ ${x} {{a}} $'")).toBe('$&amp; $1 $$ ${x} {{a}} $&#39;')
  })

  it('shows characters that hide or turn text by their number', () => {
    expect(escaped('a\u0000b\u200bc\u2067d\ud800e')).toBe('a⟨U+0000⟩b⟨U+200B⟩c⟨U+2067⟩d⟨U+D800⟩e')
    expect(escaped('line\n\tnext 👩🏽 שלום é')).toBe('line\n\tnext 👩🏽 שלום é')
  })
})

describe('words', () => {
  it('are the same everywhere', () => {
    expect(moment(Date.UTC(2026, 0, 2, 3, 4, 5))).toBe('2026-01-02 03:04:05 UTC')
    expect([40, 3_849, 134_000, 6_720_000, 273_600_000].map(span)).toEqual([
      ...['40 ms', '3.8 s', '2 m 14 s', '1 h 52 m', '3 d 4 h'],
    ])
    expect([thousands(1_234_567), counted(1, 'step'), counted(2, 'entry', 'entries')]).toEqual([
      ...['1,234,567', '1 step', '2 entries'],
    ])
    expect(listed(['a', 'b', 'c'])).toBe('a, b and c')
    expect(short('run_25165359b392827ba59756f897bd91d4')).toBe('run_2516…91d4')
  })
})

describe('the look of a report', () => {
  it('has the colours of the console', () => {
    const tokens = readFileSync(path.join(root, 'components/ui/tokens.css'), 'utf8')
    for (const [name, value] of Object.entries(reportTokens)) expect(tokens).toContain(`${name}: ${value};`)
  })

  it('has the shapes of the console for every state', () => {
    const table = readFileSync(path.join(root, 'components/ui/state.tsx'), 'utf8')
    const states = [...table.matchAll(/^ {2}(\w+): \{\n {4}word:/gm)].map((match) => match[1] as string)
    expect(states.length).toBeGreaterThan(10)
    for (const state of states) {
      const drawn = stateMark(state, '').text
      expect(drawn).toContain(`class="state s-${state}"`)
      const entry = table.slice(table.indexOf(`  ${state}: {`))
      const own = entry.slice(0, entry.indexOf('\n  },'))
      for (const [, d] of own.matchAll(/\bd="([^"]+)"/g)) expect(drawn).toContain(`d="${d}"`)
    }
  })
})
