import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalUrl, namedHosts, urlMatches } from './url-pattern'

const matches = (pattern: string, url: string) => {
  const canonical = canonicalUrl(url)
  return canonical !== undefined && urlMatches(pattern, canonical)
}

describe('urlMatches', () => {
  const host = 'https://api.example.com/**'
  const folder = 'https://api.example.com/public/*'

  test.each([
    [host, 'https://api.example.com'],
    [host, 'https://api.example.com/?q=1'],
    [host, 'https://API.Example.com:443/a/b?c#d'],
    [host, 'https://api.example.com./a'],
    [host, 'HTTPS:\\\\api.example.com\\a'],
    [host, 'https://api.example.com/..%2fadmin'],
    [folder, 'https://api.example.com/public'],
    [folder, 'https://api.example.com/public/x?y=../z'],
    [folder, 'https://api.example.com/%70ublic/x'],
    [folder, 'https://api.example.com/other/../public/x'],
    ['HTTPS://API.example.com:443/public/**', 'https://api.example.com/public/x'],
    ['https://api.example.com/x', 'https://api.example.com/x'],
    ['https://api.example.com', 'https://api.example.com/'],
    ['https://*', 'https://example.com/x'],
    ['https://**', 'https://example.com/x'],
    ['http://127.0.0.1:8080/**', 'http://0x7f.1:8080/x'],
    ['http://[::1]:8080/**', 'http://[0:0:0:0:0:0:0:1]:8080/x'],
    ['*', 'http://example.com/'],
    ['https://bücher.example/**', 'https://xn--bcher-kva.example/x'],
  ])('%s allows %s', (pattern, url) => {
    expect(matches(pattern, url)).toBe(true)
  })

  test.each([
    [host, 'https://api.example.com.evil.com/'],
    [host, 'https://api.example.com@evil.com/'],
    [host, 'https://api.example.com:443@evil.com/'],
    [host, 'https://user@api.example.com/'],
    [host, 'https://evil.com/https://api.example.com/'],
    [host, 'https://evil.com\\@api.example.com/'],
    [host, 'https://evil.com#@api.example.com/'],
    [host, 'http://api.example.com/'],
    [host, 'https://api.example.com:8443/'],
    [host, 'https://api.example.comx/'],
    [host, 'https://xapi.example.com/'],
    [host, 'https://api.example.com\t.evil.com/'],
    [host, 'https://api%2eexample%2ecom%2eevil.com/'],
    [host, 'ftp://api.example.com/'],
    [host, '//api.example.com/'],
    [folder, 'https://api.example.com/public/../admin'],
    [folder, 'https://api.example.com/public/%2e%2e/admin'],
    [folder, 'https://api.example.com/public\\..\\admin'],
    [folder, 'https://api.example.com/public/..%2fadmin'],
    [folder, 'https://api.example.com/public/..%5cadmin'],
    [folder, 'https://api.example.com/public/..%252fadmin'],
    [folder, 'https://api.example.com/public/%252e%252e/admin'],
    [folder, 'https://api.example.com/public/..;/admin'],
    [folder, 'https://api.example.com/public/%c0%ae%c0%ae/admin'],
    [folder, 'https://api.example.com/publicity'],
    [folder, 'https://api.example.com/public?x=1'],
    ['https://api.example.com/x', 'https://api.example.com/x?y'],
    ['https://api.example.com/x', 'https://api.example.com/x/'],
    ['https://api.example.com/.*', 'https://api.example.com/x'],
    ['https://*.internal/**', 'https://a.internal/x'],
    ['https://*', 'http://example.com/'],
    ['https://api.example.com*', 'https://api.example.com/x'],
    ['api.example.com/**', 'https://api.example.com/x'],
  ])('%s denies %s', (pattern, url) => {
    expect(matches(pattern, url)).toBe(false)
  })

  test('never lets a URL of another host pass, however it is dressed up', () => {
    const dressed = fc
      .tuple(
        fc.constantFrom('https://', 'https:', 'HTTPS:/', 'https:\\\\', 'https:///'),
        fc.constantFrom(
          '',
          'api.example.com@',
          'api.example.com:x@',
          'api.example.com%40',
          'api.example.com.',
        ),
        fc.constantFrom('evil.com', 'evil.com.', 'EVIL.com', 'evil.com:443', '1.1.1.1', '[2606:4700::1]'),
        fc.constantFrom('', '/', '\\', '?', '#', '/@', '\\@', '/../'),
        fc.constantFrom('', 'api.example.com', 'https://api.example.com/', '@api.example.com/x'),
      )
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(dressed, (url) => {
        if (!URL.canParse(url) || new URL(url).hostname.replace(/\.$/, '') === 'api.example.com') return
        expect(matches(host, url)).toBe(false)
      }),
    )
  })

  test('lets nothing out of a folder that a server would find outside it', () => {
    const piece = fc.constantFrom(
      '..',
      '.',
      '%2e',
      '%2E%2e',
      '%252e',
      '/',
      '%2f',
      '%5c',
      '\\',
      'a',
      ';b',
      '%c0%ae',
      '',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
        const url = `https://api.example.com/public/${pieces.join('')}`
        if (!matches(folder, url)) return
        let path = new URL(url).pathname
        for (let round = 0; round < 5; round++) {
          path = path.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
            String.fromCharCode(Number.parseInt(hex, 16)),
          )
        }
        const served = new URL(path.replaceAll('\\', '/'), 'https://api.example.com').pathname
        expect(served === '/public' || served.startsWith('/public/')).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('namedHosts', () => {
  test('reads the hosts that patterns spell out, and none from a star', () => {
    expect(
      namedHosts([
        '*',
        'https://*',
        'https://*.internal/**',
        'http://localhost:8080/**',
        'https://10.0.0.7/x',
        'http://[::1]/**',
        'not a url',
      ]),
    ).toEqual(['localhost:8080', '10.0.0.7:443', '[::1]:80'])
  })
})
