/** Breakers: who may call whom now, and what people make of it. */
import { z } from 'zod'
import { actorOf } from '@/lib/auth/principal'
import { circuitDetail, circuitRow, forceCircuit, liftCircuit, listCircuits } from '../circuits'
import { route } from '../current'
import { json } from '../http/route'
import { probeCircuit } from '../probe-circuit'

const reading = { auth: 'either', scope: 'runs:read', role: 'viewer' } as const
const writing = { auth: 'either', scope: 'runs:write', role: 'operator', idempotent: true } as const
const reason = z.string().trim().min(1).max(500)

/** `GET /api/v1/circuits` */
export const getCircuits = route(reading, async ({ installation }) => json(await listCircuits(installation)))

/** `GET /api/v1/circuits/{circuit}?cursor=` */
export const getCircuit = route(reading, async ({ installation, params, url }) =>
  json(await circuitDetail(installation, params.circuit ?? '', url.searchParams.get('cursor') ?? undefined)),
)

const forceBody = z.strictObject({
  to: z.enum(['open', 'closed']),
  reason,
  minutes: z.int().min(1).max(10_080),
})

/** `POST /api/v1/circuits/{circuit}/force` */
export const postForce = route(
  { ...writing, body: forceBody },
  async ({ installation, params, principal, body }) => {
    const id = params.circuit ?? ''
    await forceCircuit(installation, id, actorOf(principal), body)
    return json(await circuitRow(installation, id))
  },
)

/** `POST /api/v1/circuits/{circuit}/lift` */
export const postLift = route(
  { ...writing, body: z.strictObject({ reason }) },
  async ({ installation, params, principal, body }) => {
    const id = params.circuit ?? ''
    await liftCircuit(installation, id, actorOf(principal), body)
    return json(await circuitRow(installation, id))
  },
)

/** `POST /api/v1/circuits/{circuit}/probe` */
export const postProbe = route(
  { ...writing, body: z.strictObject({}) },
  async ({ installation, params, principal }) =>
    json(await probeCircuit(installation, params.circuit ?? '', actorOf(principal))),
)
