/* A question that stays open while what its step acts on is changed: real files, and an agent of the lab over HTTP. */
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { labId } from '@/examples/lab/lab-agent'
import type { RunId } from '@/lib/base/ids'
import type { Approval } from '@/lib/engine/run'
import type { ApprovalCard, ApprovalNow } from '@/lib/view/approval-wire'
import { getApproval, getApprovalNow, postDecision } from './handlers/approvals'
import { looksPerMinute } from './looks'
import type { Browser } from './testing/console'
import { LabScene, oneStep } from './testing/lab-scene'

let scene: LabScene
let otto: Browser
beforeAll(async () => {
  scene = await LabScene.open()
  otto = await scene.at.person('otto', 'operator')
})
afterAll(() => scene.close())

const held = JSON.stringify({
  wf_id: 'writes',
  description: 'Writes',
  policy: { roots: [{ path: 'conf', access: 'write' }] },
  nodes: [
    {
      ...{ id: 'write', label: 'Write the file', reversible: true, hitl_required: true },
      action: { type: 'write_file', path: 'conf/router.conf', content: 'wanted\n' },
    },
  ],
  edges: [],
})

async function asked(text: string): Promise<{ run: RunId; question: Approval }> {
  const run = await scene.start(await scene.workflow(text))
  return { run, question: await scene.question(run, 'approval') }
}

const ended = (run: RunId) =>
  scene.until(run, 'The end', ({ state }) => (state.status === 'ended' ? true : undefined))

const look = async ({ id }: Approval) =>
  (await otto.ask<ApprovalNow>(getApprovalNow, 'GET', { params: { approval: id } })).body

const decide = ({ id, action }: Approval, seen?: string, verdict = 'approve') =>
  otto.ask(postDecision, 'POST', { params: { approval: id }, body: { verdict, action, seen } })

describe('a file', () => {
  const at = () => path.join(scene.at.folder, 'files/conf/router.conf')
  beforeEach(() => {
    fs.mkdirSync(path.dirname(at()), { recursive: true })
    fs.writeFileSync(at(), 'as asked\n')
  })

  it('that stayed as it was is told of with no word, and the decision names what was asked alone', async () => {
    const { run, question } = await asked(held)
    expect(await look(question)).toEqual({ at: expect.any(Number) })
    expect((await decide(question)).status).toBe(200)
    const { seen } = await scene.untilFact(run, 'approval_decided')
    expect(seen).toBeUndefined()
    await ended(run)
  })

  it('that was changed since is shown as it is now, beside what was asked, and the decision says what was seen', async () => {
    const { run, question } = await asked(held)
    fs.writeFileSync(at(), 'as somebody made it\n')
    const { changed } = await look(question)
    expect(changed?.preview).toMatchObject({ before: 'as somebody made it\n', after: 'wanted\n' })
    expect(changed?.undo, 'what would be put back is what is there now').toMatch(/^Put back its 20 bytes/)
    const card = () => otto.ask<ApprovalCard>(getApproval, 'GET', { params: { approval: question.id } })
    expect((await card()).body.preview, 'the evidence stays').toMatchObject({ before: 'as asked\n' })

    expect((await decide(question, changed?.seen)).status).toBe(200)
    const decided = await scene.untilFact(run, 'approval_decided')
    expect(decided).toMatchObject({ action: question.action, seen: changed?.seen })
    expect((await card()).body.decision?.seen).toEqual(changed?.preview)
    await ended(run)
    expect(fs.readFileSync(at(), 'utf8')).toBe('wanted\n')
  })

  it('that was changed again after it was looked at is not decided on unseen', async () => {
    const { run, question } = await asked(held)
    fs.writeFileSync(at(), 'once\n')
    const { changed } = await look(question)
    fs.writeFileSync(at(), 'twice\n')
    const refused = await decide(question, changed?.seen)
    expect([refused.status, refused.body.code]).toEqual([409, 'approval_changed'])
    expect(refused.body.detail).toBe(
      'What "Write the file" acts on is no longer as it was when you looked; look at the question again and decide on what is there now.',
    )
    const again = await look(question)
    expect((await decide(question, again.changed?.seen)).status).toBe(200)
    await ended(run)
  })

  it('that was changed after it was opened is not decided on unseen', async () => {
    const { run, question } = await asked(held)
    expect((await look(question)).changed).toBeUndefined()
    fs.writeFileSync(at(), 'by hand\n')
    const refused = await decide(question)
    expect([refused.status, refused.body.code]).toEqual([409, 'approval_changed'])
    expect(fs.readFileSync(at(), 'utf8')).toBe('by hand\n')
    const { changed } = await look(question)
    expect((await decide(question, changed?.seen)).status).toBe(200)
    await ended(run)
  })

  it('that was changed again can be refused all the same', async () => {
    const { run, question } = await asked(held)
    fs.writeFileSync(at(), 'once\n')
    const { changed } = await look(question)
    fs.writeFileSync(at(), 'twice\n')
    expect((await decide(question, changed?.seen, 'refuse')).status).toBe(200)
    const decided = await scene.untilFact(run, 'approval_decided')
    expect(decided).toMatchObject({ verdict: 'refuse' })
    expect(decided.seen).toBeUndefined()
  })
})

describe('looks', () => {
  it('are so many a minute of one person, who is told how long to wait', async () => {
    const opened = async (who: Browser, { id }: Approval) =>
      who.ask<ApprovalNow & { code?: string; detail?: string }>(getApprovalNow, 'GET', {
        params: { approval: id },
      })
    fs.mkdirSync(path.join(scene.at.folder, 'files/conf'), { recursive: true })
    fs.writeFileSync(path.join(scene.at.folder, 'files/conf/router.conf'), 'as asked\n')
    const { question } = await asked(held)
    const [grace, ines] = await Promise.all([
      scene.at.person('grace', 'operator'),
      scene.at.person('ines', 'operator'),
    ])
    const looked = async () => {
      for (let look = 1; look <= 5 * looksPerMinute; look++) {
        const answer = await opened(grace, question)
        if (answer.status !== 200) return answer
      }
      throw new Error('Nobody was held off')
    }
    const refused = await looked()
    expect([refused.status, refused.body.code]).toEqual([429, 'too_many_requests'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.body.detail).toMatch(
      /^grace had what steps act on looked at more than 60 times within a minute, and each time a file is read or an agent asked; look again in \d+ s\.$/,
    )
    expect((await opened(ines, question)).status, 'nobody else is held off').toBe(200)
  })
})

describe('an agent', () => {
  const steer = (share: number, hold: boolean) => {
    const workflow = JSON.parse(oneStep('steers', 'dns-steering', 'shift-weight', {}))
    Object.assign(workflow.nodes[0], {
      hitl_required: hold,
      agent_config: { operation: 'shift-weight', input: { transit_b: share } },
    })
    return JSON.stringify({ ...workflow, wf_id: `steer-${share}` })
  }
  afterEach(() => scene.fail('dns-steering', { kind: 'none' }))

  it('that others told something else meanwhile shows what it would do by now', async () => {
    const { question } = await asked(steer(62, true))
    expect(await look(question)).toEqual({ at: expect.any(Number) })
    const other = await scene.start(await scene.workflow(steer(71, false)))
    await ended(other)
    const { changed } = await look(question)
    expect(changed?.preview).toMatchObject({ show: 'diff', before: expect.stringContaining('71') })
  })

  it('that does not answer is told of by that alone', async () => {
    const { question } = await asked(steer(12, true))
    await scene.fail('dns-steering', { kind: 'errors' })
    expect(await look(question)).toEqual({
      at: expect.any(Number),
      silent: {
        what: 'agent',
        name: 'dns-steering',
        why: expect.stringMatching(/^The agent dns-steering .*"describe"/),
      },
    })
    expect((await decide(question)).status, 'what was asked can be decided').toBe(200)
  })

  it('that does not answer when it is decided on what was seen leaves that open, and says who could not tell', async () => {
    const { run, question } = await asked(steer(13, true))
    await ended(await scene.start(await scene.workflow(steer(72, false))))
    const { changed } = await look(question)
    expect(changed).toBeDefined()
    await scene.fail('dns-steering', { kind: 'errors' })
    const { status, body } = await decide(question, changed?.seen)
    expect([status, body.code, body.agent]).toEqual([409, 'target_silent', labId('dns-steering')])
    expect(body.detail).toMatch(
      /^What "shift-weight" would do was asked once more, and the agent dns-steering gave no answer to go by \(.+\); nobody can tell whether it is still as you saw it\. Approve once there is an answer again, or refuse now: a refusal asks nobody\.$/,
    )
    expect(body.detail, 'that it changed is not claimed').not.toContain('no longer')
    expect((await decide(question, changed?.seen, 'refuse')).status).toBe(200)
    expect(await scene.untilFact(run, 'approval_decided')).toMatchObject({ verdict: 'refuse' })
  })
})
