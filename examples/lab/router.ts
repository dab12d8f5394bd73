import type { JsonObject } from '@/lib/base/json'
import { type Answer, type LabAgent, labId, type Operation, OperationFailed } from './lab-agent'
import { factoryConfig, faultsOf, neighborsOf, permitsTelemetry, withFailover } from './running-config'

const configFile = 'running-config'

/** A router: its state is its configuration, and its telemetry obeys it. */
export function router(name: string, loopback: string): LabAgent {
  return {
    id: labId(name),
    name,
    files: { [configFile]: factoryConfig(name, loopback) },
    operations: { 'validate-config': validateConfig(name), 'update-bgp-peer': updateBgpPeer(name) },
    seen: (world) => world.text(configFile),
    reads: {
      '/telemetry': async (world, headers): Promise<Answer> => {
        const config = await world.text(configFile)
        const collector = headers['x-collector-address'] ?? ''
        if (!permitsTelemetry(config, collector)) {
          const detail = `The access list TELEMETRY of ${name} does not let the collector in.`
          return { status: 403, body: { code: 'telemetry_denied', detail } }
        }
        return { status: 200, body: { router: name, sessions: sessionsOf(config) } }
      },
    },
  }
}

function sessionsOf(config: string): JsonObject[] {
  return neighborsOf(config).map(({ address, description, isShutDown }) => ({
    neighbor: address,
    description,
    state: isShutDown ? 'idle' : 'established',
    flows_per_s: isShutDown ? 0 : 1_840,
  }))
}

function validateConfig(name: string): Operation {
  return {
    consequence: 'read_only',
    file: configFile,
    describe: () => ({
      sentence: `Checks the running configuration of ${name}.`,
      target: `${configFile} of ${name}`,
    }),
    async execute(_, config) {
      const faults = faultsOf(config)
      if (faults.length > 0)
        throw new OperationFailed(422, 'config_invalid', faults.join(' '), 'constraint_violation')
      const neighbors = neighborsOf(config).map(({ address, isShutDown }) => ({
        address,
        is_shut_down: isShutDown,
      }))
      return { output: { valid: true, lines: config.split('\n').length - 1, neighbors } }
    },
  }
}

function updateBgpPeer(name: string): Operation {
  const after = (input: JsonObject, config: string) => withFailover(config, input.keep_collector === true)
  return {
    consequence: 'reversible',
    file: configFile,
    describe(input, before) {
      const change = after(input, before)
      const target = `${configFile} of ${name}`
      const undo_sentence = `Puts the running configuration of ${name} back, byte for byte.`
      if (change === before)
        return {
          sentence: `Leaves ${name} as it is: traffic is on transit-b already.`,
          target,
          undo_sentence,
        }
      return {
        sentence: `Moves traffic of ${name} from transit-a to transit-b and replaces its telemetry access list.`,
        target,
        preview: { title: `${configFile} of ${name}`, before, after: change },
        undo_sentence,
      }
    },
    async execute(input, before) {
      const change = after(input, before)
      const faults = faultsOf(change)
      if (faults.length > 0)
        throw new OperationFailed(422, 'config_invalid', faults.join(' '), 'constraint_violation')
      return {
        output: { router: name, changed: change !== before, sessions: sessionsOf(change) },
        write: change,
      }
    },
    tookEffect: (input, before, now) =>
      before !== undefined && after(input, before) === now ? true : undefined,
  }
}
