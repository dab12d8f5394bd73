import { isJsonObject, type JsonObject } from '@/lib/base/json'
import { type LabAgent, labId, OperationFailed, type World } from './lab-agent'
import { collectorAddress } from './running-config'

const exporters = ['edge-router-07', 'edge-router-08'] as const
type Exporter = (typeof exporters)[number]
const ownExporter: Exporter = 'edge-router-07'

/** The traffic monitor: it knows only what the router's telemetry tells it, and asks for it each time. */
export function trafficMonitor(): LabAgent {
  const name = 'traffic-monitor'
  return {
    id: labId(name),
    name,
    files: {},
    operations: {
      'check-flows': {
        consequence: 'read_only',
        describe(input) {
          const exporter = exporterOf(input)
          return {
            sentence: `Asks ${exporter} for its flow records.`,
            target: `telemetry of ${exporter}`,
          }
        },
        async execute(input, _, world) {
          const exporter = exporterOf(input)
          const flows = await readTelemetry(exporter, world)
          if (flows.status !== 200)
            throw new OperationFailed(
              502,
              'exporter_refused',
              `${exporter} refused its flow records (HTTP ${flows.status}): its access list does not let the collector ${collectorAddress} in.`,
              'action_failed',
              'critical',
            )
          return { output: { exporter, ...flows.body } }
        },
      },
    },
    async seen(world) {
      const flows = await readTelemetry(ownExporter, world).catch(() => ({
        status: 0,
        body: {} as JsonObject,
      }))
      return { exporter: ownExporter, reachable: flows.status === 200, status: flows.status, ...flows.body }
    },
  }
}

/** The router it is asked to look at; its own one unless the input names the other. */
function exporterOf(input: JsonObject): Exporter {
  return exporters.find((name) => name === input.exporter) ?? ownExporter
}

async function readTelemetry(
  exporter: Exporter,
  world: World,
): Promise<{ status: number; body: JsonObject }> {
  const url = new URL('/telemetry', world.baseUrlOf(exporter))
  try {
    const answer = await fetch(url, {
      headers: { 'x-collector-address': collectorAddress },
      redirect: 'error',
      signal: AbortSignal.any([world.signal, AbortSignal.timeout(5_000)]),
    })
    const body: unknown = await answer.json()
    return { status: answer.status, body: isJsonObject(body) ? body : {} }
  } catch {
    throw new OperationFailed(
      502,
      'exporter_unreachable',
      `${exporter} does not answer; its telemetry could not be read.`,
      'action_failed',
      'error',
      true,
    )
  }
}
