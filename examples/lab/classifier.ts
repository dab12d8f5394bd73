import type { Values } from '../agents/kit/answers'
import { failed, type LabAgent, labId, type Place, seenAt } from './lab-agent'
import { type Change, changing, StateFile } from './state-file'

const source = 'traffic-monitor'

/**
 * The classifier labels traffic by what the monitor sees. It cannot tell "no flows" from "no flow records", so a
 * monitor that was cut off makes it call an outage where there is none.
 */
export const classifier: LabAgent = async (place) => {
  const labels = new StateFile('labels.json', place.folder)
  const notices = new StateFile('sent-notices.log', place.folder)
  await labels.begin(written({ class: 'normal', basis: 'flow records' }))
  return {
    id: labId('classifier'),
    name: 'classifier',
    operations: {
      'classify-traffic': changing(labels, classifyTraffic(place)),
      'notify-customers': changing(notices, notifyCustomers),
    },
    reads: {
      async '/state'() {
        const sent = (await notices.text()).split('\n').length - 1
        return { status: 200, body: { labels: await labels.text(), notices: sent } }
      },
    },
  }
}

function written(labels: Values): string {
  return `${JSON.stringify(labels, null, 2)}\n`
}

function classifyTraffic(place: Place): Change {
  return {
    consequence: 'reversible',
    describe: () => ({
      sentence: 'Labels the traffic of edge-router-07 by what the monitor sees.',
      target: 'labels.json of classifier',
      undo_sentence: 'Puts the labels back, byte for byte.',
    }),
    async execute() {
      const seen = await seenAt(place, source, '/state')
      if (seen?.status !== 200)
        throw failed('monitor_unreachable', `${source} does not answer; nothing was labelled.`, {
          error_type: 'upstream_cascade',
          retriable: true,
        })
      const isSeen = seen.body.reachable === true
      const label = isSeen
        ? { class: 'normal', basis: 'flow records' }
        : { class: 'outage', basis: 'no flow records' }
      return { output: label, write: written(label) }
    },
  }
}

const notifyCustomers: Change = {
  consequence: 'irreversible',
  describe: (input) => ({
    sentence: `Sends a notice to all customers: ${noticeOf(input)}`,
    target: 'all customers',
  }),
  async execute(input, before, key) {
    if (hasNotice(before, key)) return { output: { sent: true } }
    const line = JSON.stringify({ key, notice: noticeOf(input) })
    return { output: { sent: true }, write: `${before}${line}\n` }
  },
  tookEffect: (_, __, now, key) => hasNotice(now, key),
}

function noticeOf(input: Values): string {
  return typeof input.notice === 'string' ? input.notice.slice(0, 500) : 'Traffic is being rerouted.'
}

function hasNotice(log: string, key: string): boolean {
  return log.includes(`{"key":${JSON.stringify(key)},`)
}
