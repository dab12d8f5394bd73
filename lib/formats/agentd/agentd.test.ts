import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isProblem } from '@/lib/base/problem'
import { nodeKind } from '@/lib/nodes/registry'
import type { GraphEdge, GraphNode, WorkflowGraph } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { memberNames } from '@/lib/workflow/schema-members'
import { versionOf } from '@/lib/workflow/versions'
import { parseAgentd, writeAgentd } from './agentd'
import { nodeFields } from './fields'

const start = `[[start_nodes]]
name = "main"
source = "manual"
entry_node = "a"
`

/** A workflow of one node, with sections before it; the node's lines begin at a line of their own. */
function workflow(sections: string, node = 'type = "merge"', rest = ''): string {
  return `name = "w"\n${start}${sections}\n[[nodes]]\nid = "a"\n${node}\n${rest}`
}

function read(text: string): WorkflowGraph {
  const { graph, diagnostics } = parseAgentd(text, nodeKind)
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  return graph as WorkflowGraph
}

function faultsOf(text: string) {
  return parseAgentd(text, nodeKind).diagnostics
}

describe('a file of every section', () => {
  const text = `
name = "order_intake"
description = "Every section once"

[[intelligence.backends]]
name = "risk"
provider = "anthropic"
model = "some-model"
api_key_env = "RISK_KEY"
max_tokens = 900

[[secrets]]
name = "SHOP_TOKEN"
source = "file"
path = "/run/secrets/shop"
trim = false

[[mcp_servers]]
name = "warehouse"
command = ["npx", "-y", "a-server"]
allow_tools = ["query"]
env = { DATABASE_URL = "SHOP_TOKEN" }

[budget]
max_llm_tokens = 12000
max_run_time_secs = 30
max_fs_write_mb = 4
max_cpu_secs = 0

[auth.hmac.shop]
secret_env = "SHOP_SECRET"
header = "X-Shop-Hmac"
prefix = ""

[policy]
fs = { read = ["/data/**"] }

[policy.rego]
file = "policy.rego"
data = { region = "eu-west-1", limits = { items = 3 } }

[server.tls]
cert_file = "/etc/ssl/server.pem"
key_file = "/etc/ssl/server.key"

[server.tls.client_auth]
mode = "required"
ca_file = "/etc/ssl/ca.pem"

[logging]
level = "info"

[logging.audit]
target = "file:/var/log/audit.jsonl"

[[start_nodes]]
name = "on_order"
source = "http"
entry_node = "load"

[[triggers]]
type = "cron"
schedule = "0 */5 * * * *"
start_node = "on_order"

[[triggers]]
type = "mcp.resource.updated"
server = "warehouse"
resource = "docs://pages/*"
start_node = "on_order"

[[http_routes]]
method = "POST"
path = "/orders"
start_node = "on_order"
auth = "hmac:shop"
idempotency_key = "trigger.order.id"
[http_routes.rate_limit]
capacity = 10
per_second = 1.0

[[http_routes]]
method = "POST"
path = "/orders/signed"
start_node = "on_order"
auth = "mtls"
[[http_routes.rate_limit]]
capacity = 10
refill_per_sec = 0.5

[[nodes]]
id = "load"
type = "read_file"
path_from = "trigger.path"

[[nodes]]
id = "gate"
type = "condition"
expr = "load.content"

[[nodes]]
id = "review"
type = "pause_for_approval"
reason = "Look at the order"

[[nodes]]
id = "send"
type = "http_request"
method = "POST"
url_from = "trigger.url"
body_from = "load"
reversible = false
[nodes.headers]
Authorization = "Bearer {{secret:SHOP_TOKEN}}"
[nodes.retry]
max_attempts = 3
backoff_ms = 500
on = "transient"
jitter = 0.9

[[edges]]
from = "load"
to = "gate"

[[edges]]
from = "gate"
to = "review"
when = "true"

[[edges]]
from = "review"
to = "send"

[[edges]]
from = "send"
to = "load"
when = "error"
max_iterations = 2
`

  it('becomes a stepwise graph', () => {
    const graph = read(text)
    expect(graph).toMatchObject({
      name: 'order_intake',
      format: 'agentd',
      order: 'stepwise',
      starts: [{ name: 'on_order', node: 'load', source: 'http' }],
      budget: { maxModelTokens: 12_000, maxRunS: 30, maxWriteBytes: 4 * 1_048_576 },
      backends: [{ name: 'risk', provider: 'anthropic', model: 'some-model', apiKeyEnv: 'RISK_KEY' }],
      secrets: [{ name: 'SHOP_TOKEN', from: { file: '/run/secrets/shop' } }],
    })
    expect(graph.nodes.map(({ id, kind, label }) => [id, kind, label])).toEqual([
      ['load', 'read_file', 'load'],
      ['gate', 'condition', 'gate'],
      ['review', 'pause_for_approval', 'review'],
      ['send', 'http_request', 'send'],
    ])
    expect(graph.nodes[2]?.approval).toEqual({
      role: 'operator',
      reason: 'Look at the order',
      onSilence: 'hold',
    })
    expect(graph.nodes[3]).toMatchObject({
      reversible: false,
      config: { method: 'POST', headers: { Authorization: 'Bearer {{secret:SHOP_TOKEN}}' } },
      retry: { maxAttempts: 3, baseMs: 500, factor: 1, jitter: 0.5, linear: true },
      extra: { retry: { on: 'transient', jitter: 0.9 } },
    })
    expect(graph.edges[3]).toEqual({ from: 'send', to: 'load', when: 'error', maxIterations: 2, extra: {} })
  })

  it('denies by default once a policy stands, and lists what may be read', () => {
    const { policy } = read(text)
    expect(policy.allow).toEqual({
      fs: { read: ['/data/**'], write: [], delete: [], list: ['/data/**'] },
      env: { readKeys: [] },
      http: { urls: [], methods: [] },
      shell: { commands: [] },
      mcp: { servers: [], tools: [], resources: [] },
    })
    expect(policy.rego).toEqual({
      file: 'policy.rego',
      data: { region: 'eu-west-1', limits: { items: 3 } },
      query: 'data.agent.allow',
    })
    expect(read(workflow('')).policy.allow).toBeUndefined()
    expect(read(workflow('[policy]')).policy.allow?.fs.read).toEqual([])
  })

  it('keeps what is served elsewhere under its own name', () => {
    const { extra } = read(text)
    expect(Object.keys(extra).sort()).toEqual(
      'auth backends budget http_routes logging mcp_servers secrets server triggers'.split(' '),
    )
    expect(extra.budget).toEqual({ max_cpu_secs: 0 })
    expect(extra.triggers).toHaveLength(2)
  })

  it('comes back from its own text as the same graph', () => {
    const graph = read(text)
    // What goes to a browser must be made of ordinary objects, and the parser makes others.
    expect(Object.getPrototypeOf(graph.extra.auth)).toBe(Object.prototype)
    const again = read(writeAgentd(graph))
    expect(again).toEqual(graph)
    expect(versionOf(again)).toBe(versionOf(graph))
  })

  it('may stand in [[workflows]], with the agent’s sections inside or beside', () => {
    const inside = `[[workflows]]\nname = "w"\n[[workflows.nodes]]\nid = "a"\ntype = "merge"\n`
    const opening = `[budget]\nmax_llm_tokens = 7\n${inside}[[workflows.start_nodes]]\nname = "m"\nsource = "manual"\n`
    const graph = read(`${opening}[workflows.policy.fs]\nread = ["/x"]\n`)
    expect(graph.budget.maxModelTokens).toBe(7)
    expect(graph.policy.allow?.fs.read).toEqual(['/x'])
    expect(graph.starts).toEqual([{ name: 'm', node: 'a', source: 'manual' }])
    expect(writeAgentd(graph)).toMatch(/^\[budget\]\nmax_llm_tokens = 7\n\n\[\[workflows\]\]\nname = "w"/)
    expect(read(writeAgentd(graph))).toEqual(graph)
    expect(faultsOf(`${inside}[[workflows]]\nname = "v"\n`)).toMatchObject([
      { code: 'agentd_workflows_count', line: 6, column: 1 },
    ])
  })
})

describe('secrets', () => {
  it.each([
    ['[[secrets]]\nname = "T"\nsource = "env"\nvar = "V"', { env: 'V' }],
    ['[[secrets]]\nname = "T"\nenv = "V"', { env: 'V' }],
    ['[secrets]\nname = "T"\nsource = "file"\npath = "/v"', { file: '/v' }],
    ['[secrets]\nT = { source = "env", var = "V" }', { env: 'V' }],
    ['[secrets]\nT = "V"', { env: 'V' }],
    ['[secrets]\nT = "file:/v"', { file: '/v' }],
  ])('are found as %j says', (sections, from) => {
    expect(read(workflow(sections)).secrets).toEqual([{ name: 'T', from }])
  })

  it('that another program would have to fetch are kept and pointed out', () => {
    const text = workflow('[[secrets]]\nname = "T"\nsource = "command"\nargv = ["pass", "T"]')
    const { graph, diagnostics } = parseAgentd(text)
    expect(diagnostics).toMatchObject([
      { severity: 'warning', code: 'agentd_secret_not_served', line: 6, column: 1 },
    ])
    expect(parseAgentd(writeAgentd(graph as WorkflowGraph)).graph).toEqual(graph)
  })
})

describe('a fault is told with its place', () => {
  const cases: [what: string, text: string, code: string, place: string, words: string, mend?: string][] = [
    ['text that is no TOML', 'name = "w"\n[[nodes]\n', 'not_toml', '2:9', 'The text is not TOML'],
    ['a date', workflow('', 'type = "fail"\nreason = 2026-01-01'), 'no_value', '10:10', 'A date stands here'],
    ['an infinite number', workflow('[budget]\nmax_cpu_secs = inf'), 'no_value', '7:16', 'infinite'],
    [
      'an unknown section',
      workflow('[polcy]'),
      'unknown_field',
      '6:2',
      'has no field "polcy"',
      'Did you mean "policy"?',
    ],
    [
      'an unknown field deep inside',
      workflow('[policy.fs]\nreed = []'),
      'unknown_field',
      '7:1',
      '"reed"',
      'Did you mean "read"?',
    ],
    [
      'a wrong type deep inside',
      workflow('[policy.fs]\nread = ["/a", 3]'),
      'bad_value',
      '7:15',
      '"read.1" of [policy.fs] is a number; text was expected',
    ],
    [
      'a budget below nothing',
      workflow('[budget]\nmax_memory_mb = -1'),
      'bad_value',
      '7:17',
      'must be at least 0',
    ],
    [
      'a workflow without a name',
      `${start}[[nodes]]\nid = "a"\ntype = "merge"`,
      'missing',
      '1:1',
      'The workflow has no "name"',
    ],
    ['a node without a type', workflow('', ''), 'missing', '7:1', 'Node 1 has no "type"'],
    ['an unknown type', workflow('', 'type = "read_fil"'), 'unknown_type', '9:8', 'did you mean read_file?'],
    [
      'a kind that agentd does not have',
      workflow('', 'type = "task"'),
      'unknown_type',
      '9:8',
      'which agentd does not have',
    ],
    [
      'an unknown field of a node',
      workflow('', 'type = "merge"\nexpr = "x"'),
      'unknown_field',
      '10:1',
      'is of the type merge, which has no field "expr"',
    ],
    [
      'a field that only Holdpoint has',
      workflow('', 'type = "read_file"\npath = "/x"\npath_from = "trigger.p"'),
      'unknown_field',
      '10:1',
      'which has no field "path"',
      'Did you mean "path_from"?',
    ],
    ['a missing field of a node', workflow('', 'type = "read_file"'), 'missing', '7:1', 'has no "path_from"'],
    [
      'a wrong type in a node',
      workflow('', 'type = "condition"\nexpr = 3'),
      'bad_config',
      '10:8',
      'is a number; text was expected',
    ],
    [
      'no attempts at all',
      workflow('', 'type = "merge"\n[nodes.retry]\nmax_attempts = 0'),
      'bad_value',
      '11:16',
      'must be at least 1',
    ],
    [
      'more attempts than are made',
      workflow('', 'type = "merge"\n[nodes.retry]\nmax_attempts = 25'),
      'retry_bounds',
      '11:16',
      "the retry's max_attempts is 25",
    ],
    [
      'an unknown field of a retry',
      workflow('', 'type = "merge"\nretry = { max_attempts = 1, tries = 2 }'),
      'unknown_field',
      '10:29',
      '"tries"',
    ],
    [
      'an unknown source of a start',
      `name = "w"\n[[start_nodes]]\nname = "m"\nsource = "cron"\n[[nodes]]\nid = "a"\ntype = "merge"`,
      'bad_value',
      '4:10',
      'is not one of "event", "http", "manual"',
    ],
    [
      'a start that names no node',
      `name = "w"\n[[start_nodes]]\nname = "m"\nsource = "http"\nentry_node = "b"\n[[nodes]]\nid = "a"\ntype = "merge"`,
      'dangling_start',
      '5:14',
      'no node has that id',
    ],
    ['two starts of one name', workflow(start), 'duplicate_start', '7:8', 'declared twice'],
    [
      'a start with several roots',
      `name = "w"\n[[start_nodes]]\nname = "m"\nsource = "http"\n[[nodes]]\nid = "a"\ntype = "merge"\n[[nodes]]\nid = "b"\ntype = "merge"`,
      'ambiguous_start',
      '2:1',
      '"a", "b" are without an edge',
    ],
    [
      'two nodes of one id',
      workflow('', 'type = "merge"', '[[nodes]]\nid = "a"\ntype = "merge"'),
      'duplicate_id',
      '11:6',
      'which node 1 has already',
    ],
    [
      'an edge to nowhere',
      workflow('', 'type = "merge"', '[[edges]]\nfrom = "a"\nto = "b"'),
      'dangling_edge',
      '12:6',
      'goes to "b"',
    ],
    [
      'a cycle',
      workflow(
        '',
        'type = "merge"',
        '[[nodes]]\nid = "b"\ntype = "merge"\n[[edges]]\nfrom = "a"\nto = "b"\n[[edges]]\nfrom = "b"\nto = "a"',
      ),
      'cycle',
      '16:1',
      'a → b → a',
    ],
    [
      'a node nothing leads to',
      workflow('', 'type = "merge"', '[[nodes]]\nid = "b"\ntype = "merge"'),
      'unreachable_node',
      '10:1',
      '"b" cannot be reached',
    ],
    [
      'two edges without a label',
      workflow(
        '',
        'type = "merge"',
        '[[nodes]]\nid = "b"\ntype = "merge"\n[[nodes]]\nid = "c"\ntype = "merge"\n[[edges]]\nfrom = "a"\nto = "b"\n[[edges]]\nfrom = "a"\nto = "c"',
      ),
      'ambiguous_edges',
      '19:1',
      'to "b" and "c"; a run follows exactly one',
    ],
    [
      'the same edge twice',
      workflow(
        '',
        'type = "merge"',
        '[[nodes]]\nid = "b"\ntype = "merge"\n[[edges]]\nfrom = "a"\nto = "b"\n[[edges]]\nfrom = "a"\nto = "b"',
      ),
      'duplicate_edge',
      '16:1',
      'repeats edge 1',
    ],
    [
      'a loop of no rounds',
      workflow('', 'type = "merge"', '[[edges]]\nfrom = "a"\nto = "a"\nmax_iterations = 0'),
      'bad_value',
      '13:18',
      'must be at least 1',
    ],
    [
      'a trigger of no kind',
      workflow('[[triggers]]\ntype = "chron"\nstart_node = "main"'),
      'unknown_type',
      '7:8',
      'did you mean cron?',
    ],
    [
      'a schedule of too few fields',
      workflow('[[triggers]]\ntype = "cron"\nschedule = "* *"\nstart_node = "main"'),
      'bad_value',
      '8:12',
      'five fields',
    ],
    [
      'an interval of nothing',
      workflow('[[triggers]]\ntype = "interval"\nevery = "0s"\nstart_node = "main"'),
      'bad_value',
      '8:9',
      'such as 30s',
    ],
    [
      'an unknown event of a folder',
      workflow('[[triggers]]\ntype = "fs_watch"\npath = "/x"\nevents = ["made"]\nstart_node = "main"'),
      'bad_value',
      '9:11',
      'is not one of',
    ],
    [
      'a trigger of an unknown start',
      workflow('[[triggers]]\ntype = "internal.event"\nname = "e"\nstart_node = "mai"'),
      'unknown_start',
      '9:14',
      'begins at "mai"',
      'Did you mean "main"?',
    ],
    [
      'a route of an unknown start',
      workflow('[[http_routes]]\nmethod = "GET"\npath = "/x"\nstart_node = "no"'),
      'unknown_start',
      '9:14',
      'begins at "no"',
    ],
    [
      'two routes for the same',
      workflow(
        '[[http_routes]]\nmethod = "post"\npath = "/x"\nstart_node = "main"\n[[http_routes]]\nmethod = "POST"\npath = "/x"\nstart_node = "main"',
      ),
      'duplicate_route',
      '10:1',
      'POST /x',
    ],
    [
      'an unknown binding',
      workflow('[[http_routes]]\nmethod = "GET"\npath = "/x"\nstart_node = "main"\nauth = "bearer:ops"'),
      'unknown_binding',
      '10:8',
      'no [auth.bearer.ops]',
    ],
    [
      'a binding without a name',
      workflow('[[http_routes]]\nmethod = "GET"\npath = "/x"\nstart_node = "main"\nauth = "hmac"'),
      'unknown_binding',
      '10:8',
      'hmac:default',
    ],
    [
      'client certificates without TLS',
      workflow('[[http_routes]]\nmethod = "GET"\npath = "/x"\nstart_node = "main"\nauth = "mtls"'),
      'mtls_without_tls',
      '10:8',
      'client certificates',
    ],
    [
      'a rate limit of nothing',
      workflow(
        '[[http_routes]]\nmethod = "GET"\npath = "/x"\nstart_node = "main"\n[http_routes.rate_limit]\ncapacity = 0\nper_second = 1.0',
      ),
      'bad_value',
      '11:12',
      'must be at least 1',
    ],
    [
      'a rate limit that never fills',
      workflow(
        '[[http_routes]]\nmethod = "GET"\npath = "/x"\nstart_node = "main"\n[[http_routes.rate_limit]]\ncapacity = 1\nper_second = 0',
      ),
      'bad_value',
      '12:14',
      'more than 0',
    ],
    [
      'a rate limit said twice',
      workflow(
        '[[http_routes]]\nmethod = "GET"\npath = "/x"\nstart_node = "main"\nrate_limit = { capacity = 1, per_second = 1, refill_per_sec = 1 }',
      ),
      'rate_limit_twice',
      '10:63',
      'which mean the same',
    ],
    [
      'a binding that lets nobody in',
      workflow('[auth.bearer.ops]'),
      'binding_source',
      '6:1',
      'lets nobody in',
    ],
    [
      'an unknown MCP server',
      workflow(
        '[[mcp_servers]]\nname = "docs"\ncommand = ["/x"]',
        'type = "call_mcp_tool"\ntool = "t"\nserver = "dcos"',
      ),
      'unknown_mcp_server',
      '13:10',
      'no [[mcp_servers]] entry has that name',
    ],
    [
      'an MCP server that is not named',
      workflow(
        '[[mcp_servers]]\nname = "x"\ncommand = ["/x"]\n[[mcp_servers]]\nname = "y"\ncommand = ["/y"]',
        'type = "call_mcp_tool"\ntool = "t"',
      ),
      'ambiguous_mcp_server',
      '12:1',
      '2 are declared',
    ],
    [
      'an MCP server without a program',
      workflow('[[mcp_servers]]\nname = "x"\ncommand = []'),
      'bad_value',
      '8:11',
      'the list is empty',
    ],
    [
      'a header that is no name',
      workflow(
        '',
        'type = "http_request"\nmethod = "GET"\nurl_from = "trigger.u"\nheaders = { "X Y" = "1" }',
      ),
      'bad_header_name',
      '12:13',
      'is not the name of a header',
    ],
    [
      'a header with a line break',
      workflow(
        '',
        'type = "http_request"\nmethod = "GET"\nurl_from = "trigger.u"\nheaders = { X = "a\\r\\nY: b" }',
      ),
      'header_line_break',
      '12:17',
      'line break',
    ],
    [
      'a secret that is not declared',
      workflow(
        '',
        'type = "http_request"\nmethod = "GET"\nurl_from = "trigger.u"\nheaders = { X = "{{secret:NO}}" }',
      ),
      'unknown_secret',
      '12:17',
      '"NO", which is not declared',
    ],
    [
      'a placeholder that is none',
      workflow(
        '',
        'type = "http_request"\nmethod = "GET"\nurl_from = "trigger.u"\nheaders = { X = "{{secret: NO}}" }',
      ),
      'bad_placeholder',
      '12:17',
      'not written as {{secret:NAME}}',
    ],
    [
      'a map over nothing',
      workflow('', 'type = "map"\nitems_from = "trigger.i"\nworkflow = "c.toml"\nmax_items = 0'),
      'bounds',
      '12:13',
      'of at least 1',
    ],
    [
      'a map without a bound',
      workflow('', 'type = "map"\nitems_from = "trigger.i"\nworkflow = "c.toml"'),
      'missing',
      '7:1',
      'has no "max_items"',
    ],
    [
      'a status that is none',
      workflow('', 'type = "respond"\nbody_template = ""\nstatus = 700'),
      'bounds',
      '11:10',
      'from 100 to 599',
    ],
    [
      'a content type with a line break',
      workflow('', 'type = "respond"\nbody_template = ""\ncontent_type = "text/xml\\nX: y"'),
      'bad_content_type',
      '11:16',
      'line break',
    ],
    [
      'a minute that is none',
      workflow('[[triggers]]\ntype = "cron"\nschedule = "99 * * * *"\nstart_node = "main"'),
      'bad_value',
      '8:12',
      'The minute "99" is none; 0 to 59',
    ],
    [
      'a field of a table at the top',
      workflow('[budget]\nmax_fun = 3'),
      'unknown_field',
      '7:1',
      '[budget] has no field "max_fun"',
    ],
    [
      'a time below nothing',
      workflow('', 'type = "shell_run"\ncommand = "/bin/true"\ntimeout_secs = -1'),
      'bounds',
      '11:16',
      '"timeout_secs" is -1; a whole number from 0 to 86400 was expected',
    ],
    [
      'a jitter that is no number',
      workflow('', 'type = "merge"\nretry = { max_attempts = 2, jitter = true }'),
      'bad_value',
      '10:38',
      'A part of the delay was expected, such as 0.2',
    ],
    [
      'a secret in clear',
      workflow('[[secrets]]\nname = "A"\nvalue = "x"'),
      'unknown_field',
      '8:1',
      'it takes name, source, var, path',
    ],
    [
      'a backend without a key',
      workflow('[[intelligence.backends]]\nname = "x"\nprovider = "openai"\nmodel = "m"'),
      'missing',
      '6:1',
      'has no "api_key_env"',
    ],
    [
      'a key in the file',
      workflow(
        '[[intelligence.backends]]\nname = "x"\nprovider = "openai"\nmodel = "m"\napi_key_env = "K"\napi_key = "k"',
      ),
      'unknown_field',
      '11:1',
      '"api_key"',
      'Did you mean "api_key_env"?',
    ],
    [
      'a secret in the file',
      workflow('[[secrets]]\nname = "x"\nsource = "oauth2"\nclient_secret = "s"'),
      'unknown_field',
      '9:1',
      '"client_secret"',
    ],
    [
      'two policies in one',
      workflow('[policy.rego]\nfile = "a"\ninline = "b"\n[policy.fs]\nread = ["/x"]'),
      'rego_source',
      '6:1',
      'both "inline" and "file"',
    ],
    [
      'an empty schema',
      workflow('', 'type = "llm_infer"\nbackend = "default"\nprompt = "x"\noutput_schema = ""'),
      'bad_value',
      '12:17',
      'empty "output_schema"',
    ],
  ]

  it.each(cases)('%s', (_what, text, code, place, words, mend) => {
    const errors = faultsOf(text).filter(({ severity }) => severity === 'error')
    const found = errors.find((fault) => fault.code === `agentd_${code}`)
    expect(errors.map((fault) => `${fault.code} ${fault.line}:${fault.column}`)).toContain(
      `agentd_${code} ${place}`,
    )
    expect(found?.message).toContain(words)
    if (mend) expect(found?.mend).toBe(mend)
    const apart = errors.filter((fault) => fault.code !== 'agentd_missing')
    expect(new Set(apart.map(({ line, column }) => `${line}:${column}`)).size).toBe(apart.length)
    expect(parseAgentd(text).graph === undefined || code.startsWith('bad_config')).toBe(true)
  })
})

it('checks the good members of an entry with a bad one', () => {
  const text = workflow(
    '[[triggers]]\ntype = "cron"\nschedule = "never"\nstart_node = "ghost"\n' +
      '[[triggers]]\ntype = "chron"\nstart_node = "spirit"\n' +
      '[[http_routes]]\nmethod = "POST"\npath = "hooks"\nstart_node = "mian"\nauth = "hmac:nobody"\n' +
      '[[http_routes]]\nmethod = "POST"\npath = "hooks"\nstart_node = "main"\nauth = "digest"\n' +
      '[http_routes.rate_limit]\ncapacity = 0\nper_second = -1.0\n' +
      '[policy.fs]\nraed = []\n[policy.rego]\ninline = "a"\nfile = "b"\n' +
      '[[intelligence.backends]]\nname = "b"\nprovider = "openai"\nmodel = 3',
  )
  expect(faultsOf(text).map(({ code, path }) => `${code.replace('agentd_', '')} ${path}`)).toEqual([
    'bad_value /triggers/0/schedule',
    'unknown_start /triggers/0/start_node',
    'unknown_type /triggers/1/type',
    'unknown_start /triggers/1/start_node',
    'bad_value /http_routes/0/path',
    'unknown_start /http_routes/0/start_node',
    'unknown_binding /http_routes/0/auth',
    'duplicate_route /http_routes/1',
    'bad_value /http_routes/1/path',
    'bad_value /http_routes/1/auth',
    'bad_value /http_routes/1/rate_limit/capacity',
    'bad_value /http_routes/1/rate_limit/per_second',
    'unknown_field /policy/fs/raed',
    'rego_source /policy/rego',
    'missing /intelligence/backends/0',
    'bad_value /intelligence/backends/0/model',
  ])
})

it('lets a file declare a default backend of its own, whoever provides it', () => {
  const text = workflow(
    '[[intelligence.backends]]\nname = "default"\nprovider = "anthropic"\nmodel = "m"\napi_key_env = "K"',
  )
  expect(faultsOf(text)).toEqual([])
  expect(read(text).backends).toEqual([
    { name: 'default', provider: 'anthropic', model: 'm', apiKeyEnv: 'K' },
  ])
})

it('says that a text is not closed, where its line ends', () => {
  expect(faultsOf('name = "x\n[[nodes]]')).toMatchObject([
    {
      code: 'agentd_not_toml',
      message: 'The text is not TOML: a text in quotation marks is not closed on its line.',
      line: 1,
    },
  ])
})

describe('a workflow that calls itself', () => {
  const calling = (node: string) => workflow('', node)
  const call = calling('type = "call"\nworkflow = "mine.toml"')
  const codes = (text: string, filename?: string) =>
    parseAgentd(text, nodeKind, filename).diagnostics.map(({ code, path }) => `${code} ${path}`)

  it('is told so by the name of its file', () => {
    expect(codes(call, 'mine.toml')).toEqual(['agentd_calls_itself /nodes/0/workflow'])
    expect(codes(call, 'flows/mine.toml')).toEqual(['agentd_calls_itself /nodes/0/workflow'])
    expect(codes(call, 'other.toml')).toEqual([])
    expect(codes(call)).toEqual([])
  })

  it('is told so by its name', () => {
    const text = calling('type = "parallel"\nbranches = [{ workflow = "x.toml" }, { workflow = "w" }]')
    expect(codes(text)).toEqual(['agentd_calls_itself /nodes/0/branches/1/workflow'])
    const map = calling('type = "map"\nitems_from = "trigger.i"\nmax_items = 2\nworkflow = "flows/w.toml"')
    expect(codes(map)).toEqual(['agentd_calls_itself /nodes/0/workflow'])
    expect(codes(map, 'top.toml')).toEqual([])
  })
})

describe('a warning lets the workflow through', () => {
  const edgeTo = (when: string) =>
    `[[nodes]]\nid = "b"\ntype = "merge"\n[[edges]]\nfrom = "a"\nto = "b"\nwhen = "${when}"`
  const cases: [what: string, text: string, code: string, place: string, words: string][] = [
    [
      'a label a condition never has',
      workflow('', 'type = "condition"\nexpr = "trigger.x"', edgeTo('yes')),
      'edge_never_taken',
      '17:8',
      'it never says "yes"',
    ],
    [
      'a misspelled label',
      workflow('', 'type = "read_file"\npath_from = "trigger.x"', edgeTo('eror')),
      'edge_never_taken',
      '17:8',
      'it never says "eror"',
    ],
    [
      'an edge behind the end',
      workflow('', 'type = "terminate"', edgeTo('x')),
      'edge_never_taken',
      '16:8',
      'the run ends there',
    ],
    [
      'a regular expression',
      workflow('[policy.http]\nurls = ["https://api/*", "^https://.*"]'),
      'pattern_literal',
      '7:26',
      'taken literally',
    ],
    [
      'a star in the middle',
      workflow('[policy.http]\nurls = ["https://*.example.com/**"]'),
      'pattern_literal',
      '7:9',
      'taken literally',
    ],
    [
      'a marker that is not closed',
      workflow('', 'type = "template_render"\ntemplate = "hi {{ user.name"'),
      'template_marker',
      '10:12',
      '"template" has a marker that begins with "{{" and is not closed',
    ],
    [
      'a marker without a key',
      workflow('', 'type = "respond"\nbody_template = """hi\n{{ }}"""'),
      'template_marker',
      '10:17',
      'line 2 of "body_template" has an empty marker',
    ],
    [
      'a marker with a dot too many',
      workflow('', 'type = "llm_infer"\nbackend = "default"\nprompt = "{{user..name}}"'),
      'template_marker',
      '11:10',
      '"{{user..name}}", whose path has an empty part',
    ],
    [
      'a Rego policy that is never asked',
      workflow('[policy.rego]\ninline = "package agent"'),
      'rego_alone',
      '6:1',
      'denies everything',
    ],
    [
      'a backend that is not declared',
      workflow('', 'type = "llm_infer"\nbackend = "fast"\nprompt = "x"'),
      'unknown_backend',
      '10:11',
      '"fast"',
    ],
    [
      'an MCP server that only the installation can have',
      workflow('', 'type = "call_mcp_tool"\ntool = "t"\nserver = "docs"'),
      'unknown_mcp_server',
      '11:10',
      'this file declares none',
    ],
    [
      'a budget of nothing',
      workflow('[budget]\nmax_cpu_secs = 0'),
      'budget_zero',
      '7:16',
      'no bound of its own',
    ],
    [
      'a credential in the file',
      workflow('[auth.bearer.ops]\ntokens = ["s3cret"]'),
      'literal_credential',
      '7:1',
      'in the file itself',
    ],
    [
      'a value of the run in a header',
      workflow(
        '',
        'type = "http_request"\nmethod = "GET"\nurl_from = "trigger.u"\nheaders = { X = "{{trigger.x}}" }',
      ),
      'header_not_filled',
      '12:17',
      'never go into headers',
    ],
    ['no start', 'name = "w"\n[[nodes]]\nid = "a"\ntype = "merge"', 'no_start', '2:3', 'no [[start_nodes]]'],
  ]

  it.each(cases)('%s', (_what, text, code, place, words) => {
    const { graph, diagnostics } = parseAgentd(text, nodeKind)
    expect(graph).toBeDefined()
    expect(
      diagnostics.map((fault) => `${fault.severity} ${fault.code} ${fault.line}:${fault.column}`),
    ).toEqual([`warning agentd_${code} ${place}`])
    expect(diagnostics[0]?.message).toContain(words)
    expect(JSON.stringify(diagnostics)).not.toContain('s3cret')
  })

  it('says nothing of labels that do happen', () => {
    for (const [node, label] of [
      ['type = "condition"\nexpr = "trigger.x"', 'false'],
      ['type = "switch"\nexpr = "trigger.x"', 'anything'],
      ['type = "read_file"\npath_from = "trigger.x"', 'error'],
      ['type = "http_request"\nmethod = "GET"\nurl_from = "trigger.x"', 'error'],
    ] as const)
      expect(faultsOf(workflow('', node, edgeTo(label)))).toEqual([])
  })
})

it('tells all faults at once, in the order of the text', () => {
  const text = workflow(
    '[budget]\nmax_llm_tokns = 1\n[[triggers]]\ntype = "cron"\nstart_node = "no"',
    'type = "merge"\nlabel = "x"',
    '[[edges]]\nfrom = "a"\nto = "z"\n[[edges]]\nfrom = "y"\nto = "a"\nwhere = 1',
  )
  expect(faultsOf(text).map(({ code, line }) => [code, line])).toEqual([
    ['agentd_unknown_field', 7],
    ['agentd_missing', 8],
    ['agentd_unknown_start', 10],
    ['agentd_unknown_field', 14],
    ['agentd_dangling_edge', 17],
    ['agentd_dangling_edge', 19],
    ['agentd_unknown_field', 21],
  ])
})

it('never leaves an error out for the sake of warnings', () => {
  const patterns = Array.from({ length: 150 }, (_, at) => `"^${at}$"`).join(', ')
  const { graph, diagnostics } = parseAgentd(
    workflow(`[policy.http]\nurls = [${patterns}]`, 'type = "merge"', '[[edges]]\nfrom = "a"\nto = "b"'),
  )
  expect(graph).toBeUndefined()
  expect(diagnostics).toHaveLength(100)
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toMatchObject([
    { code: 'agentd_dangling_edge' },
  ])
})

it('places a problem that is found later, such as in a policy', () => {
  const text = workflow('[policy.fs]\nread = []\n[policy.rego]\ninline = "package agent"')
  const { place } = parseAgentd(text)
  const problem = { severity: 'error', code: 'rego', message: 'No.', mend: 'Mend it.' } as const
  expect(place?.({ ...problem, path: ['policy', 'rego', 'text'] })).toMatchObject({
    code: 'agentd_rego',
    line: 9,
    column: 10,
    path: '/policy/rego/inline',
  })
  expect(place?.({ ...problem, path: ['nodes', 0, 'kind'] })).toMatchObject({
    line: 12,
    path: '/nodes/0/type',
  })
})

it('refuses a file of 10,000 nodes with one sentence, soon', () => {
  const nodes = Array.from({ length: 10_000 }, (_, at) => `[[nodes]]\nid = "n${at}"\ntype = "merge"\n`)
  const { graph, diagnostics } = parseAgentd(`name = "w"\n${nodes.join('')}`, nodeKind)
  expect(graph).toBeUndefined()
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toMatchObject([
    {
      code: 'agentd_too_many_nodes',
      message: 'The workflow has 10,000 nodes; at most 5,000 are accepted.',
      line: 2,
    },
  ])
})

it('refuses what is deeper or longer than any workflow', () => {
  const deep = `x = ${'['.repeat(70)}${']'.repeat(70)}\n`
  expect(faultsOf(deep)).toMatchObject([{ severity: 'error', line: 1 }])
  expect(faultsOf(`${'a.'.repeat(100_000)}b = 1`)).toMatchObject([
    { code: 'agentd_no_value', message: 'The text is nested deeper than 64 levels.' },
  ])
  expect(faultsOf('[[nodes]]\n'.repeat(200_000))).toMatchObject([{ code: 'agentd_too_many_values' }])
  expect(faultsOf(`# ${'x'.repeat(8 * 1024 * 1024)}`)).toMatchObject([{ code: 'agentd_too_long' }])
  expect(faultsOf('name = "\ud800"')).toMatchObject([{ code: 'agentd_half_character', line: 1, column: 9 }])
})

it('says why a graph cannot be an agentd workflow', () => {
  const reasons = (graph: WorkflowGraph) => {
    try {
      writeAgentd(graph)
    } catch (error) {
      if (isProblem(error, 'workflow_invalid')) return error.message
      throw error
    }
    return 'written'
  }
  expect(reasons(graphOf({ a: {} }))).toContain('"test" came as atd, and agentd runs one node at a time')
  const stepwise = { format: 'agentd', order: 'stepwise' } as const
  expect(reasons(graphOf({ a: { kind: 'merge' } }, [], stepwise))).toBe('written')
  expect(reasons(graphOf({ a: { kind: 'task', label: 'A' } }, [], stepwise))).toContain(
    'node "a" is of the kind "task"',
  )
  const config = { path: '/x' }
  expect(reasons(graphOf({ a: { kind: 'read_file', config, maxVisits: 2 } }, [], stepwise))).toContain(
    'node "a" has "path"; node "a" bounds its visits',
  )
})

const texts = fc.string({ unit: 'binary', maxLength: 30 })
const names = fc.stringMatching(/^[a-z_][a-z0-9_-]{0,12}$/)
const patterns = fc.array(texts, { maxLength: 3 })

const configs: Record<string, fc.Arbitrary<GraphNode['config']>> = {
  read_file: fc.record({ path_from: texts }),
  template_render: fc.record({ template: texts, input_from: texts }, { requiredKeys: ['template'] }),
  llm_infer: fc.record({ backend: texts, prompt: texts, output_repairs: fc.nat(9) }),
  http_request: fc.record(
    { method: texts, url_from: texts, headers: fc.dictionary(names, names, { maxKeys: 3 }) },
    { requiredKeys: ['method', 'url_from'] },
  ),
  parallel: fc.record({
    branches: fc.array(fc.record({ workflow: texts, input_from: texts }, { requiredKeys: ['workflow'] }), {
      maxLength: 3,
    }),
  }),
  shell_run: fc.record({ command: texts, timeout_secs: fc.nat(600) }),
  merge: fc.constant({}),
  switch: fc.record({ expr: texts }),
}

const nodes = fc.array(
  fc
    .record({
      id: fc.uuid(),
      kind: fc.constantFrom(...Object.keys(configs)),
      reversible: fc.option(fc.constant(false), { nil: undefined }),
      contained: fc.record(
        {
          timeoutS: fc.integer({ min: 1, max: 9 }),
          resources: fc.record({ cpu: fc.nat(9), memoryMb: fc.nat(9) }, { requiredKeys: ['cpu'] }),
          circuit: fc.record(
            { threshold: fc.constant(0.25), windowS: fc.constant(9) },
            { requiredKeys: ['windowS'] },
          ),
          whenOpen: fc.constantFrom('wait' as const, 'degrade' as const),
          onError: fc.constantFrom('nothing' as const, 'rollback' as const),
        },
        { requiredKeys: [] },
      ),
      priority: fc.constantFrom('normal' as const, 'critical' as const),
      retry: fc.option(
        fc.record({
          maxAttempts: fc.integer({ min: 1, max: 20 }),
          baseMs: fc.nat(10_000),
          factor: fc.constant(1),
          maxMs: fc.constant(86_400_000),
          jitter: fc.constantFrom(0, 0.1, 0.5),
          linear: fc.constant(true),
        }),
        { nil: undefined },
      ),
    })
    .chain((node) =>
      (configs[node.kind] as fc.Arbitrary<GraphNode['config']>).map(
        (config): GraphNode => ({
          id: node.id,
          label: node.id,
          kind: node.kind,
          config,
          priority: node.priority,
          ...node.contained,
          ...(node.reversible === undefined ? {} : { reversible: node.reversible }),
          ...(node.retry ? { retry: node.retry } : {}),
          extra: {},
        }),
      ),
    ),
  { minLength: 1, maxLength: 6 },
)

const graphs: fc.Arbitrary<WorkflowGraph> = fc
  .record({
    name: names,
    description: texts,
    nodes,
    labels: fc.array(fc.option(texts, { nil: undefined }), { minLength: 6, maxLength: 6 }),
    loop: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
    budget: fc.record({ maxRunS: fc.integer({ min: 1, max: 99 }), maxModelTokens: fc.integer({ min: 1 }) }),
    allow: fc.option(fc.record({ read: patterns, list: patterns, urls: patterns, keys: patterns }), {
      nil: undefined,
    }),
    data: fc.dictionary(
      texts,
      fc.oneof(texts, fc.integer(), fc.boolean(), fc.array(texts, { maxLength: 2 })),
      {
        maxKeys: 3,
      },
    ),
    secret: fc.option(texts, { nil: undefined }),
    auth: fc.dictionary(names, fc.record({ tokens_env: names }), { maxKeys: 2 }),
  })
  .map(({ nodes, labels, loop, allow, data, secret, auth, ...head }): WorkflowGraph => {
    const ids = nodes.map(({ id }) => id)
    const edges = ids.slice(1).map((to, at): GraphEdge => {
      const when = labels[at]
      return { from: ids[at] as string, to, ...(when === undefined ? {} : { when }), extra: {} }
    })
    const last = ids.at(-1) as string
    if (loop) edges.push({ from: last, to: last, when: 'again', maxIterations: loop, extra: {} })
    return {
      ...head,
      format: 'agentd',
      order: 'stepwise',
      vocabulary: 'atd',
      nodes,
      edges,
      starts: [{ name: 'main', node: ids[0] as string, source: 'manual' }],
      artifacts: [],
      policy: {
        roots: [],
        privateTargets: [],
        ...(allow && {
          allow: {
            fs: {
              read: allow.read,
              write: [],
              delete: [],
              list: allow.list.length > 0 ? allow.list : allow.read,
            },
            env: { readKeys: allow.keys },
            http: { urls: allow.urls, methods: [] },
            shell: { commands: [] },
            mcp: { servers: [], tools: [], resources: [] },
          },
          rego: { text: 'package agent\n\nallow if true\n', data, query: 'data.agent.allow' },
        }),
      },
      rules: [],
      ...(secret ? { secrets: [{ name: 'S', from: { env: secret } }] } : {}),
      extra: Object.keys(auth).length > 0 ? { auth: { bearer: auth } } : {},
    }
  })

it('reads back every graph it writes, to the same version', () => {
  fc.assert(
    fc.property(graphs, (graph) => {
      const { graph: again, diagnostics } = parseAgentd(writeAgentd(graph))
      expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
      expect(again).toEqual(graph)
      expect(versionOf(again as WorkflowGraph)).toBe(versionOf(graph))
    }),
    { numRuns: 300 },
  )
})

it('never throws, and always says where', () => {
  const piece = fc.constantFrom(
    '[',
    ']',
    '[[nodes]]',
    '"',
    '"""',
    "'''",
    '=',
    '{',
    '}',
    ',',
    '\n',
    '#',
    '\\',
    'id = "a"',
    'type = "map"',
    'nodes = 3',
    '[policy.fs]',
    'read = [1]',
    'name = "w"',
    '[[edges]]',
    'from = "a"',
    '.',
    '1e999',
    '\ufeff',
    'workflows = [',
    'retry = 1',
    '[nodes.headers]',
    '__proto__ = 1',
    '[secrets]',
    'rate_limit = [[]]',
    '[[http_routes]]',
    '[auth.bearer]',
    '[[triggers]]',
    'type = "cron"',
    '2026-01-01 10:00:00',
    'constructor = {}',
  )
  fc.assert(
    fc.property(
      fc.array(fc.oneof(piece, texts), { maxLength: 25 }),
      fc.constantFrom('', '\n', ' '),
      (parts, glue) => {
        const { graph, diagnostics } = parseAgentd(parts.join(glue), nodeKind)
        const hasError = diagnostics.some(({ severity }) => severity === 'error')
        expect(graph === undefined).toBe(hasError)
        for (const { line, column, message, mend, code } of diagnostics) {
          expect(line).toBeGreaterThan(0)
          expect(column).toBeGreaterThan(0)
          expect(code).toMatch(/^agentd_[a-z_]+$/)
          expect(message).toMatch(/[.?!]$/)
          expect(mend).not.toBe('')
        }
      },
    ),
    { numRuns: 2_000 },
  )
})

it('knows no field that the kind of a type does not take', () => {
  for (const [type, { required, optional }] of Object.entries(nodeFields)) {
    const kind = nodeKind(type)
    const takes = kind ? memberNames(kind.config, []) : []
    if (kind)
      expect({ type, takes }).toEqual({ type, takes: expect.arrayContaining([...required, ...optional]) })
  }
})

describe('containment, which agentd has no word for', () => {
  it('is read from a section of its own and written back', () => {
    const graph = read(workflow('[containment]\non_error = "rollback"\non_unprepared = "abort"\n'))
    expect(graph.containment).toEqual({ onError: 'rollback', onUnprepared: 'abort' })
    expect(read(writeAgentd(graph))).toEqual(graph)
  })

  it('is refused where it says what is none', () => {
    const { diagnostics } = parseAgentd(workflow('[containment]\non_error = "panic"\n'))
    expect(diagnostics.map(({ path }) => path)).toContain('/containment/on_error')
  })
})
