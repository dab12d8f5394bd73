/* What an author writes and gives, and what the parts of the kit hand to each other. */
import type { JWK, JWTVerifyGetKey } from 'jose'
import type { Answer, Values } from './answers'
import type { Breaker } from './breaker'

export interface Agent {
  /** SPIFFE id. */
  id: string
  name: string
  /** What it changes, by name: a checkpoint is of one of these. */
  states: Record<string, State>
  /** Endpoints of its own, for verified callers: `POST /switch`. */
  routes?: Record<string, Route>
  /** An error was told of in a run that this agent worked for (AERR section 5). */
  onError?(signal: Values): Promise<void>
}

/** Equal states are to be equal text in JSON. What cannot be undone has no `restore`. */
export interface State {
  now(): Promise<Values>
  restore?(state: Values): Promise<void>
}

/** Small JSON documents by kind and name; durable when `put` resolves. Of most, `until` (ms) says when they may go. */
export interface Store {
  get<T>(kind: string, name: string): Promise<T | undefined>
  put(kind: string, name: string, document: object): Promise<void>
  names(kind: string): Promise<string[]>
}

export interface Options {
  /** The agent's own, and nobody else's: its keys are in it. */
  store: Store
  /** Where callers reach it. */
  baseUrl: string
  /** The keys of those whose tokens are believed. */
  callers: JWTVerifyGetKey
  /** The breakers of what it calls itself. */
  calls?: Breaker
  log?: (sentence: string) => void
  /** Milliseconds since the epoch. */
  now?: () => number
}

/** A request with a verified token. `hash`: of the body's octets. */
export type Call = { claims: Claims; json: Values; hash: string }
export type Route = (parts: Parts, call: Call) => Promise<Answer>

/** What the kit's functions and an author's routes work with. */
export interface Parts extends Required<Options> {
  agent: Agent
  keys: Keys
  /** Signs as the agent: give at least aud, wid, exec_act and par. */
  sign(claims: Values): Promise<string>
  /** Signs for who asked, as what follows from its token. */
  answering(asked: Claims, exec_act: string, out_hash: string, more?: Values): Promise<string>
  /** What is under way; the next request waits for it. */
  line: Promise<unknown>
}

export type Claims = Record<'iss' | 'jti' | 'wid' | 'exec_act', string> & { par: string[]; ext?: Values }
/** `jwk`: the public half. `sealing`: for checkpoints. */
export type Keys = { kid: string } & Record<'secret' | 'jwk' | 'sealing', JWK>
