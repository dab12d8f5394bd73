import type { Values } from '../agents/kit/answers'
import { Refusal } from '../agents/kit/answers'
import { type LabAgent, labId } from './lab-agent'
import { changing, StateFile } from './state-file'

const zoneFile = 'weights.json'

/** DNS steering: which share of new connections each transit gets; its state is a small table of weights. */
export const steering: LabAgent = async ({ folder }) => {
  const file = new StateFile(zoneFile, folder)
  await file.begin(written({ 'transit-a': 90, 'transit-b': 10 }))
  const shift = changing(file, {
    consequence: 'reversible',
    describe(input, before) {
      const after = shifted(input, before)
      return {
        sentence: `Sends ${shareOf(input)} % of new connections over transit-b.`,
        target: `${zoneFile} of dns-steering`,
        preview: { title: `${zoneFile} of dns-steering`, before, after },
        undo_sentence: 'Puts the weights back, byte for byte.',
      }
    },
    async execute(input, before) {
      const after = shifted(input, before)
      return { output: { weights: JSON.parse(after) }, write: after }
    },
    tookEffect: (input, before, now) => (before && shifted(input, before) === now ? true : undefined),
  })
  return {
    id: labId('dns-steering'),
    name: 'dns-steering',
    operations: { 'shift-weight': shift },
    reads: { '/state': async () => ({ status: 200, body: JSON.parse(await file.text()) }) },
  }
}

function written(weights: Values): string {
  return `${JSON.stringify(weights, null, 2)}\n`
}

function shareOf(input: Values): number {
  const share = input.transit_b ?? 80
  if (Number.isInteger(share) && Number(share) >= 0 && Number(share) <= 100) return Number(share)
  throw new Refusal(
    422,
    'share_invalid',
    '"transit_b" is no share; a whole number from 0 to 100 was expected.',
  )
}

function shifted(input: Values, before: string): string {
  const share = shareOf(input)
  return written({ ...JSON.parse(before), 'transit-a': 100 - share, 'transit-b': share })
}
