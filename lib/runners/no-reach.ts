import { EffectFailed, type Effects } from './runner'

/** What a step may reach beyond files, HTTP and agents. */
export type Reach = Pick<
  Effects,
  'allow' | 'secret' | 'authored' | 'spendBytes' | 'models' | 'mcp' | 'children' | 'calls'
>

function nothing(what: string): () => Promise<never> {
  return async () => {
    throw new EffectFailed('not_configured', `There are no ${what} where this runs`)
  }
}

/** Nothing is denied and nothing can be reached: where only files, HTTP and agents are served. */
export const noReach: Reach = {
  allow: async () => undefined,
  secret: async () => undefined,
  authored: async () => undefined,
  spendBytes: async () => undefined,
  calls: { through: (_downstream, call) => call(), counted: (_downstream, call) => call() },
  models: { ask: nothing('model backends'), names: () => [] },
  mcp: {
    tool: async () => undefined,
    call: nothing('MCP servers'),
    read: nothing('MCP servers'),
    names: () => [],
  },
  children: {
    load: nothing('child runs'),
    loop: nothing('child runs'),
    turn: nothing('child runs'),
    run: nothing('child runs'),
    takeBack: nothing('child runs'),
  },
}
