import { expect, it } from 'vitest'
import { capacityWords, numberFault, numberIn, placesWords, poolName } from './words'

it('names pools and says how full they are', () => {
  const limits = { connections: 64, connectionsPerWorkflow: 32, queuePerWorkflow: 10 }
  const workflows = [
    { workflow: 'a', running: 3, queued: 0, requests: 0 },
    { workflow: 'b', running: 2, queued: 9, requests: 0 },
  ]
  expect(placesWords({ limits, workflows })).toBe('5 of 64 places taken')
  expect(poolName({ name: 'here', label: '' })).toBe('This machine')
  expect(poolName({ name: 'spiffe://a/b', label: '' })).toBe('spiffe://a/b')
  expect(poolName({ name: 'spiffe://a/b', label: 'Router' })).toBe('Router')
})

it('says what a machine hands out', () => {
  expect(capacityWords({ cpu: 8, memoryMb: 16_384, gpu: 0 })).toBe('8 processors, 16 GB')
  expect(capacityWords({ cpu: 1, memoryMb: 512, gpu: 2 })).toBe('1 processor, 512 MB, 2 GPUs')
})

it('says of each field what to write there', () => {
  const places = { min: 1, max: 10_000, whole: true }
  const share = { min: 0.1, max: 100, optional: true }
  expect(['64', '0', 'many', '', '1.5'].map((text) => numberFault(text, places))).toEqual([
    undefined,
    ...Array(4).fill('Write a whole number from 1 to 10,000.'),
  ])
  expect(['', '0.5', 'x'].map((text) => numberFault(text, share))).toEqual([
    undefined,
    undefined,
    'Write a number from 0.1 to 100, or leave it empty.',
  ])
})

it('reads numbers as people write them', () => {
  expect(['', ' 64 ', '1,000', 'many'].map(numberIn)).toEqual([undefined, 64, 1000, Number.NaN])
})
