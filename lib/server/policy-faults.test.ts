import { describe, expect, it } from 'vitest'
import type { RegoRules } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { policiesOf } from './policies'
import { policyFaults } from './policy-faults'

const policies = policiesOf({ authoredFolders: [import.meta.dirname] })

function stating(rego: Partial<RegoRules>) {
  const policy = { roots: [], privateTargets: [], rego: { data: {}, query: 'data.agent.allow', ...rego } }
  return graphOf({}, [], { policy })
}

const head =
  'name = "w"\n[[start_nodes]]\nname = "main"\nsource = "manual"\nentry_node = "a"\n[[nodes]]\nid = "a"\ntype = "merge"\n[policy.rego]\n'

describe('a Rego policy that cannot be loaded', () => {
  it('is told in whole sentences', async () => {
    const text = 'package agent\nallow if {\n'
    const [fault] = await policyFaults({ policies }, stating({ text }), `${head}inline = '''\n${text}'''\n`)
    expect(fault).toMatchObject({ code: 'rego_parse_error', line: 13 })
    expect(fault?.message).toMatch(/^policy\.rego, line 3, column 1: .*[^.]\.$/)
  })

  it('is placed where it stands when its text is written with escapes', async () => {
    const text = 'package agent\nallow if {\n'
    const source = `${head}inline = "package agent\\nallow if {\\n"\n`
    expect(await policyFaults({ policies }, stating({ text }), source)).toMatchObject([
      { line: 10, column: 10 },
    ])
  })

  it('may be of another package than the one that is asked', async () => {
    const text = '# mine\npackage other\nallow := true\n'
    const source = `${head}inline = '''\n${text}'''\n`
    const faults = await policyFaults({ policies }, stating({ text }), source)
    expect(faults).toMatchObject([{ code: 'rego_compile_error', line: 12, column: 1 }])
    expect(faults[0]?.message).toMatch(/the package is other; package agent was expected\.$/)
    const own = stating({ text, query: 'data.other.allow' })
    expect(await policyFaults({ policies }, own, source)).toEqual([])
  })

  it('may be in a file that is not there, which is told where it is named', async () => {
    const source = `${head}file = "no.rego"\n`
    expect(await policyFaults({ policies }, stating({ file: 'no.rego' }), source)).toMatchObject([
      {
        code: 'policy_missing',
        line: 10,
        column: 8,
        message:
          'The Rego policy "no.rego" was not found: there is no text file of that name where policies are read from.',
        mend: 'Correct the name, put the file there, or write the policy into the workflow.',
      },
    ])
  })
})
