import type { Values } from '../agents/kit/answers'
import { failed, type LabAgent, labId, type Place, seenAt } from './lab-agent'
import { collectorAddress } from './running-config'

const exporters = ['edge-router-07', 'edge-router-08'] as const
type Exporter = (typeof exporters)[number]
const ownExporter: Exporter = 'edge-router-07'

/** The traffic monitor: it knows only what the router's telemetry tells it, and asks for it each time. */
export const trafficMonitor: LabAgent = async (place) => ({
  id: labId('traffic-monitor'),
  name: 'traffic-monitor',
  operations: {
    'check-flows': {
      consequence: 'read_only',
      async describe(input) {
        const exporter = exporterOf(input)
        return { sentence: `Asks ${exporter} for its flow records.`, target: `telemetry of ${exporter}` }
      },
      async execute(input) {
        const exporter = exporterOf(input)
        const flows = await telemetry(exporter, place)
        if (!flows) {
          const sentence = `${exporter} does not answer; its telemetry could not be read.`
          throw failed('exporter_unreachable', sentence, { retriable: true })
        }
        if (flows.status === 200) return { output: { exporter, ...flows.body } }
        const sentence = `${exporter} refused its flow records (HTTP ${flows.status}): its access list does not let the collector ${collectorAddress} in.`
        throw failed('exporter_refused', sentence, { severity: 'critical' })
      },
    },
  },
  reads: {
    async '/state'() {
      const flows = await telemetry(ownExporter, place)
      const seen = { exporter: ownExporter, reachable: flows?.status === 200, status: flows?.status ?? 0 }
      return { status: 200, body: { ...seen, ...flows?.body } }
    },
  },
})

/** The router it is asked to look at; its own one unless the input names the other. */
function exporterOf(input: Values): Exporter {
  return exporters.find((name) => name === input.exporter) ?? ownExporter
}

function telemetry(exporter: Exporter, place: Place) {
  return seenAt(place, exporter, '/telemetry', { 'x-collector-address': collectorAddress })
}
