import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { JsonObject } from '@/lib/base/json'
import { labId } from './lab-agent'

/*
 * What `npm start` brings along, as data: the agents it registers, the workflows it imports, and the runs that make
 * the first minute show the product.
 */

/** Agents in the order of their ports. */
export const storyAgents = [
  {
    id: labId('edge-router-07'),
    name: 'edge-router-07',
    about: 'A router at the edge; its state is its configuration.',
  },
  { id: labId('edge-router-08'), name: 'edge-router-08', about: 'The peer of edge-router-07.' },
  { id: labId('traffic-monitor'), name: 'traffic-monitor', about: 'Knows what edge-router-07 tells it.' },
  { id: labId('classifier'), name: 'classifier', about: 'Labels traffic by what the monitor sees.' },
  { id: labId('dns-steering'), name: 'dns-steering', about: 'Says which transit new connections take.' },
  { id: labId('mailer'), name: 'mailer', about: 'Sends mail; what is sent stays sent.' },
] as const

/** Files in examples/workflows, in the order they are imported. */
export const storyWorkflows = [
  'bgp-failover.atd.json',
  'bgp-failover-lab.atd.json',
  'bgp-failover-peer.atd.json',
  'config-note.atd.json',
  'quick-check.atd.json',
  'storm-failover.atd.json',
  'storm-watch.atd.json',
  'storm-hourly.atd.json',
] as const

/** Files in examples/agentd that the library has from the start. */
export const storyAgentdWorkflows = ['held-change.toml'] as const

/** Files in examples/promptpack that the library has from the start. */
export const storyPacks = [
  'codegen.pack.yaml',
  'data-explorer.pack.yaml',
  'self-correcting.pack.json',
  'remediation.pack.yaml',
  'intake.pack.yaml',
] as const

/** A run to start, by the workflow's `wf_id`; nobody has to do anything for it to get there. */
export interface StoryRun {
  workflow: string
  input: JsonObject
  getsTo: 'finished' | 'failed' | 'waiting'
}

/** The failed run is on the peer, so that the waiting one still has a router to change. */
export const storyRuns: readonly StoryRun[] = [
  { workflow: 'quick-check', input: {}, getsTo: 'finished' },
  { workflow: 'bgp-failover-peer', input: {}, getsTo: 'failed' },
  { workflow: 'bgp-failover-lab', input: {}, getsTo: 'waiting' },
]

/** The texts of the story's workflows, read from the folder examples/workflows. */
export function readStoryWorkflows(folder: string): Promise<{ filename: string; text: string }[]> {
  return textsIn(folder, storyWorkflows)
}

/** The texts of the agentd workflows, read from the folder examples/agentd. */
export function readStoryAgentdWorkflows(folder: string): Promise<{ filename: string; text: string }[]> {
  return textsIn(folder, storyAgentdWorkflows)
}

/**
 * The texts of the packs, read from the folder examples/promptpack, with the addresses of the lab's agents where they
 * listen: `base` is the port of the first.
 */
export async function readStoryPacks(
  folder: string,
  base: number,
): Promise<{ filename: string; text: string }[]> {
  const texts = await textsIn(folder, storyPacks)
  const moved = (_: string, port: string) => `127.0.0.1:${base + Number(port) - 1}`
  return texts.map(({ filename, text }) => ({ filename, text: text.replace(/127\.0\.0\.1:470(\d)/g, moved) }))
}

async function textsIn(
  folder: string,
  filenames: readonly string[],
): Promise<{ filename: string; text: string }[]> {
  return Promise.all(
    filenames.map(async (filename) => ({
      filename,
      text: await readFile(path.join(folder, filename), 'utf8'),
    })),
  )
}
