import { isJsonObject, type JsonObject } from '@/lib/base/json'
import { type LabAgent, labId, type Operation, OperationFailed, type World } from './lab-agent'

const labelsFile = 'labels.json'
const noticesFile = 'sent-notices.log'
const source = 'traffic-monitor'

/**
 * The classifier labels traffic by what the monitor sees. It cannot tell "no flows" from "no flow records", so a
 * monitor that was cut off makes it call an outage where there is none.
 */
export function classifier(): LabAgent {
  const name = 'classifier'
  return {
    id: labId(name),
    name,
    files: { [labelsFile]: `${JSON.stringify({ class: 'normal', basis: 'flow records' }, null, 2)}\n` },
    operations: { 'classify-traffic': classifyTraffic, 'notify-customers': notifyCustomers },
    async seen(world) {
      return {
        labels: await world.text(labelsFile),
        notices: (await world.text(noticesFile)).split('\n').length - 1,
      }
    },
  }
}

const classifyTraffic: Operation = {
  consequence: 'reversible',
  file: labelsFile,
  describe: () => ({
    sentence: 'Labels the traffic of edge-router-07 by what the monitor sees.',
    target: `${labelsFile} of classifier`,
    undo_sentence: 'Puts the labels back, byte for byte.',
  }),
  async execute(_, __, world) {
    const seen = await monitorState(world)
    const label =
      seen.reachable === true
        ? { class: 'normal', basis: 'flow records' }
        : { class: 'outage', basis: 'no flow records' }
    return { output: label, write: `${JSON.stringify(label, null, 2)}\n` }
  },
}

const notifyCustomers: Operation = {
  consequence: 'irreversible',
  file: noticesFile,
  describe: (input) => ({
    sentence: `Sends a notice to all customers: ${noticeOf(input)}`,
    target: 'all customers',
  }),
  async execute(input, before, _, idempotencyKey) {
    if (hasNotice(before, idempotencyKey)) return { output: { sent: true } }
    const line = JSON.stringify({ key: idempotencyKey, notice: noticeOf(input) })
    return { output: { sent: true }, write: `${before}${line}\n` }
  },
  tookEffect: (_, __, now, idempotencyKey) => hasNotice(now, idempotencyKey),
}

function noticeOf(input: JsonObject): string {
  return typeof input.notice === 'string' ? input.notice.slice(0, 500) : 'Traffic is being rerouted.'
}

function hasNotice(log: string, idempotencyKey: string): boolean {
  return log.includes(`{"key":${JSON.stringify(idempotencyKey)},`)
}

async function monitorState(world: World): Promise<JsonObject> {
  try {
    const answer = await fetch(new URL('/state', world.baseUrlOf(source)), {
      redirect: 'error',
      signal: AbortSignal.any([world.signal, AbortSignal.timeout(10_000)]),
    })
    const body: unknown = await answer.json()
    if (answer.ok && isJsonObject(body)) return body
  } catch {
    // Told below, in one sentence for all that can go wrong on the way.
  }
  throw new OperationFailed(
    502,
    'monitor_unreachable',
    `${source} does not answer; nothing was labelled.`,
    'upstream_cascade',
    'error',
    true,
  )
}
