import { Refusal } from '../agents/kit/answers'
import type { Served } from '../agents/serve'
import { type LabAgent, labId } from './lab-agent'
import { factoryConfig, faultsOf, neighborsOf, permitsTelemetry, withFailover } from './running-config'
import { type Change, changing, StateFile } from './state-file'

const configFile = 'running-config'

/** A router: its state is its configuration, and its telemetry obeys it. */
export function router(name: string, loopback: string): LabAgent {
  return async ({ folder }): Promise<Served> => {
    const file = new StateFile(configFile, folder)
    await file.begin(factoryConfig(name, loopback))
    return {
      id: labId(name),
      name,
      operations: {
        'validate-config': changing(file, validateConfig(name)),
        'update-bgp-peer': changing(file, updateBgpPeer(name)),
      },
      reads: {
        '/state': async () => ({ status: 200, body: await file.text() }),
        '/telemetry': async (headers) => {
          const config = await file.text()
          const collector = String(headers['x-collector-address'] ?? '')
          if (permitsTelemetry(config, collector))
            return { status: 200, body: { router: name, sessions: sessionsOf(config) } }
          const detail = `The access list TELEMETRY of ${name} does not let the collector in.`
          return { status: 403, body: { code: 'telemetry_denied', detail } }
        },
      },
    }
  }
}

function sessionsOf(config: string) {
  return neighborsOf(config).map(({ address, description, isShutDown }) => ({
    neighbor: address,
    description,
    state: isShutDown ? 'idle' : 'established',
    flows_per_s: isShutDown ? 0 : 1_840,
  }))
}

function mustBeSound(config: string): void {
  const faults = faultsOf(config)
  if (faults.length > 0) throw new Refusal(422, 'config_invalid', faults.join(' '))
}

function validateConfig(name: string): Change {
  return {
    consequence: 'read_only',
    describe: () => ({
      sentence: `Checks the running configuration of ${name}.`,
      target: `${configFile} of ${name}`,
    }),
    async execute(_, config) {
      mustBeSound(config)
      const neighbors = neighborsOf(config).map(({ address, isShutDown }) => ({
        address,
        is_shut_down: isShutDown,
      }))
      return { output: { valid: true, lines: config.split('\n').length - 1, neighbors } }
    },
  }
}

function updateBgpPeer(name: string): Change {
  const after = (input: { keep_collector?: unknown }, config: string) =>
    withFailover(config, input.keep_collector === true)
  return {
    consequence: 'reversible',
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
      mustBeSound(change)
      return {
        output: { router: name, changed: change !== before, sessions: sessionsOf(change) },
        write: change,
      }
    },
    tookEffect: (input, before, now) =>
      before !== undefined && after(input, before) === now ? true : undefined,
  }
}
