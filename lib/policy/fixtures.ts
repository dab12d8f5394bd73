/* Words that the tests of policies are built from. */
import type { Allowlist, Policy } from '@/lib/workflow/graph'

/** An allowlist that names nothing but what the test says. */
export function allowing(more: {
  read?: string[]
  write?: string[]
  delete?: string[]
  list?: string[]
  env?: string[]
  urls?: string[]
  methods?: string[]
  commands?: string[]
  tools?: string[]
  resources?: string[]
}): Allowlist {
  return {
    fs: {
      read: more.read ?? [],
      write: more.write ?? [],
      delete: more.delete ?? [],
      list: more.list ?? [],
    },
    env: { readKeys: more.env ?? [] },
    http: { urls: more.urls ?? [], methods: more.methods ?? [] },
    shell: { commands: more.commands ?? [] },
    mcp: { servers: [], tools: more.tools ?? [], resources: more.resources ?? [] },
  }
}

/** A policy with that allowlist and nothing else. */
export function policyAllowing(more: Parameters<typeof allowing>[0]): Policy {
  return { roots: [], privateTargets: [], allow: allowing(more) }
}
