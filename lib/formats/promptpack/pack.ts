/** A pack as its text says it, once its form is accepted (refusals.ts). Members that are not read here are not named. */
import type { Json, JsonObject } from '@/lib/base/json'

export interface Pack {
  id: string
  name: string
  description?: string
  template_engine: { syntax: string; features?: string[] }
  prompts: Record<string, PackPrompt>
  fragments?: Record<string, string>
  tools?: Record<string, PackTool>
  evals?: Json[]
  skills?: Json[]
  compositions?: JsonObject
  workflow?: PackWorkflow
  agents?: { entry: string; members: Record<string, { state?: string }> }
}

export interface PackPrompt {
  system_template: string
  variables?: PackVariable[]
  tools?: string[]
  tool_policy?: {
    tool_choice?: 'auto' | 'required' | 'none'
    max_rounds?: number
    max_tool_calls_per_turn?: number
    blocklist?: string[]
  }
  pipeline?: { middleware?: Json[] }
  parameters?: Record<string, number | null>
  validators?: Json[]
  evals?: Json[]
  model_overrides?: JsonObject
  media?: JsonObject
}

export interface PackVariable {
  name: string
  type: string
  required: boolean
  default?: Json
  description?: string
  example?: Json
  validation?: {
    pattern?: string
    min_length?: number
    max_length?: number
    minimum?: number
    maximum?: number
    enum?: Json[]
  }
  binding?: { auto_populate?: boolean }
}

export interface PackTool {
  name: string
  description: string
  parameters?: JsonObject
}

export interface PackWorkflow {
  version: number
  entry: string
  states: Record<string, PackState>
  engine?: JsonObject
}

export interface PackState {
  prompt_task?: string
  description?: string
  on_event?: Record<string, string>
  persistence?: string
  orchestration?: string
  composition?: string
  skills?: string
  terminal?: boolean
  max_visits?: number
  on_max_visits?: string
  artifacts?: Record<string, PackArtifact>
}

export interface PackArtifact {
  type: string
  description?: string
  mode?: 'replace' | 'append'
}

/** The value under a name, when the object itself has it: names come from the text, and `constructor` is one. */
export function own<T>(record: Record<string, T> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined
}
