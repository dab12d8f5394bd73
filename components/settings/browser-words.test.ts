import { describe, expect, it } from 'vitest'
import { browserWords } from './browser-words'

const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)'

describe('what a browser says of itself', () => {
  it.each([
    ['Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0', 'Firefox on Linux'],
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/142.0.0.0 Safari/537.36`,
      'Chrome on Windows',
    ],
    [`Mozilla/5.0 (Windows NT 10.0) ${webkit} Chrome/142.0.0.0 Safari/537.36 Edg/142.0`, 'Edge on Windows'],
    [
      `Mozilla/5.0 (Linux; Android 15; Pixel 9) ${webkit} Chrome/142.0 Mobile Safari/537.36`,
      'Chrome on Android',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) Version/18.1 Mobile Safari/604.1',
      'Safari on iOS',
    ],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 15_1) Version/18.1 Safari/605.1.15', 'Safari on macOS'],
    ['curl/8.11.0', 'curl/8.11.0'],
    ['', 'a browser without a name'],
  ])('%s', (agent, words) => expect(browserWords(agent)).toBe(words))
})
