import type { Values } from '../agents/kit/answers'
import { type LabAgent, labId } from './lab-agent'
import { changing, StateFile } from './state-file'

/** The mailer: a mail that is sent cannot be taken back, and it says so before anything happens. */
export const mailer: LabAgent = async ({ folder }) => {
  const sent = new StateFile('sent-mail.log', folder)
  const send = changing(sent, {
    consequence: 'irreversible',
    describe: (input) => ({ sentence: `Mails ${toOf(input)}: ${subjectOf(input)}`, target: toOf(input) }),
    async execute(input, before, key) {
      const line = `${JSON.stringify({ key, to: toOf(input), subject: subjectOf(input) })}\n`
      return { output: { sent: true, to: toOf(input) }, write: isSent(before, key) ? before : before + line }
    },
    tookEffect: (_, __, now, key) => isSent(now, key),
  })
  return {
    id: labId('mailer'),
    name: 'mailer',
    operations: { 'send-mail': send },
    reads: {
      '/state': async () => ({ status: 200, body: { sent: (await sent.text()).split('\n').length - 1 } }),
    },
  }
}

function toOf(input: Values): string {
  return typeof input.to === 'string' ? input.to.slice(0, 200) : 'noc@example.com'
}

function subjectOf(input: Values): string {
  return typeof input.subject === 'string' ? input.subject.slice(0, 300) : 'Traffic is being rerouted'
}

function isSent(log: string, key: string): boolean {
  return log.includes(`{"key":${JSON.stringify(key)},`)
}
