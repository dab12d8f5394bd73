import { expect, it } from 'vitest'
import { untoldWords } from './untold-words'

it('says who gave no answer and what approving does then, and the technical reason apart', () => {
  const why = 'POST to 127.0.0.1:47711 was given up before an answer came; it can be asked again'
  const silent = { what: 'agent', name: 'edge-router-07', why } as const
  expect(untoldWords(silent, false)).toEqual({
    words: 'edge-router-07 gave no answer, so nobody can tell whether it is still as asked.',
    approving: 'It can be approved all the same.',
    reason: `${why}.`,
  })
  expect(untoldWords(silent, true)).toMatchObject({
    words: 'edge-router-07 gave no answer, so nobody can tell whether it is still as shown.',
    approving: expect.stringMatching(/^Approving looks once more, and is not taken where that tells nothing/),
  })
})

it('says what could not be looked at', () => {
  const silent = { what: 'target', name: 'uplinks/uplinks.conf', why: 'Permission is missing' } as const
  expect(untoldWords(silent, false)).toMatchObject({
    words: 'uplinks/uplinks.conf could not be looked at, so nobody can tell whether it is still as asked.',
    reason: 'Permission is missing.',
  })
})

it('keeps the whole sentence of a refusal to look', () => {
  const refused = 'ada had what steps act on looked at more than 60 times within a minute; look again in 7 s.'
  expect(untoldWords(refused, false)).toMatchObject({
    words: 'It was not looked at again, so nobody can tell whether it is still as asked.',
    reason: refused,
  })
})
