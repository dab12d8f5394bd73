import { describe, expect, it } from 'vitest'
import { inSight, revealed } from './viewport'

const area = { width: 800, height: 400, top: 44 }
const view = { x: 0, y: 0, zoom: 1 }

describe('a step brought into sight', () => {
  it('leaves the picture as it is where the step is in sight with room around it', () => {
    expect(revealed(view, area, { x: 300, y: 200 })).toEqual(view)
  })

  it('moves it no further than that takes', () => {
    const below = { x: 300, y: 380 }
    expect(inSight(view, area, below)).toBe(false)
    const moved = revealed(view, area, below)
    expect(moved).toMatchObject({ x: 0, zoom: 1 })
    expect(inSight(moved, area, below)).toBe(true)
    expect(moved.y).toBe(400 - (380 + 48 + 20 + 16))
  })

  it('keeps the beginning of a step that the picture has no room for', () => {
    const moved = revealed(view, { width: 100, height: 60, top: 44 }, { x: 500, y: 500 })
    expect(moved.x).toBe(-500 + 16)
    expect(moved.y).toBe(44 - (500 - 24 - 16))
  })
})
