import type { Json } from '@/lib/base/json'
import { type Control, controlOf } from './control'
import type { Store } from './store'

/** Settings of the installation that people change in the console, of a store made by `openStore`. */
export function openSettings(store: Store): SettingStore {
  return new SettingStore(controlOf(store))
}

export interface SettingRecord {
  value: Json
  /** Milliseconds since the epoch. */
  updatedAt: number
  updatedBy: string
}

export class SettingStore {
  readonly #control: Control

  /** Use `openSettings`. */
  constructor(control: Control) {
    this.#control = control
  }

  async get(name: string): Promise<SettingRecord | undefined> {
    const row = await this.#control.read((prisma) => prisma.setting.findUnique({ where: { name } }))
    if (!row) return undefined
    return { value: JSON.parse(row.value), updatedAt: Number(row.updatedAt), updatedBy: row.updatedBy }
  }

  async put(name: string, { value, ...by }: SettingRecord): Promise<void> {
    const row = { value: JSON.stringify(value), ...by }
    await this.#control.write((prisma) =>
      prisma.setting.upsert({ where: { name }, create: { name, ...row }, update: row }),
    )
  }
}
